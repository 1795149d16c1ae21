package view

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/ledger/verify"
)

// Options configures [Verify].
type Options struct {
	// Keys are the public keys to trust, by node. For a node without any, the key of its oldest chain is trusted.
	Keys map[string][]string
	// Known is an earlier state of the fleet, kept outside the store. Every node must have grown from there.
	Known *State
	// Nodes limits the verification to these nodes; empty means all.
	Nodes []string
	// Wait is how long to wait for entries that the store does not have although other entries of the node name them. A
	// node ships its chains side by side, so they may arrive a moment later. 0 means no wait.
	Wait time.Duration
	// Progress, if not nil, is called from time to time, one call at a time.
	Progress func(Progress)
}

// Progress is the progress of a verification.
type Progress struct {
	Nodes, Done int
	Bytes       int64 // read so far
}

// Report is the result of a verification.
type Report struct {
	OK      bool   `json:"ok"`
	Entries uint64 `json:"entries"`
	Bytes   int64  `json:"bytes"`
	Nodes   []Node `json:"nodes"`
	// Damage holds the first damage of every damaged chain.
	Damage []Damage `json:"damage"`
}

// Incomplete reports whether nothing is wrong except that entries may not have been shipped yet.
func (r *Report) Incomplete() bool {
	return len(r.Damage) > 0 && !slices.ContainsFunc(r.Damage, func(d Damage) bool { return !d.Unshipped })
}

// Node is the result for one node.
type Node struct {
	Node    string         `json:"node"`
	OK      bool           `json:"ok"`
	Entries uint64         `json:"entries"`
	Bytes   int64          `json:"bytes"`
	Keys    []string       `json:"keys"`          // trusted for the node
	New     bool           `json:"new,omitempty"` // nothing was known about the node before, so its keys prove less
	Chains  []verify.Chain `json:"chains"`
	// Pruned are the removals by retention that the node has recorded and signed.
	Pruned []verify.Pruned `json:"-"`
	damage []verify.Damage
	signer map[string]string // key by chain, as the first entry states it
}

// Damage is damage to a chain of a node.
type Damage struct {
	Node string `json:"node,omitempty"`
	verify.Damage
	// Unshipped means that the node names entries that the store does not have and, as far as is known, never had: the
	// node has not shipped them yet, or they were removed before a checkpoint covered them.
	Unshipped bool `json:"unshipped,omitempty"`
}

// String returns the node, the location, the kind and the text.
func (d Damage) String() string { return d.Node + "/" + d.Damage.String() }

// Verify reads every entry of a store, once for most chains, and verifies each node by itself: what the entries of one
// node state about another never counts. Damage is in the report; the error is not nil only if the store cannot be read
// or ctx is cancelled. Memory depends on the number of chains, not on that of the entries.
func Verify(ctx context.Context, store fleet.Store, o Options) (Report, error) {
	report, err := verifyNodes(ctx, store, o)
	for range waits {
		late := lateNodes(&report)
		if err != nil || o.Wait <= 0 || len(late) == 0 {
			break
		}
		select {
		case <-time.After(o.Wait / waits):
		case <-ctx.Done():
			return report, ctx.Err()
		}
		again := o
		again.Nodes = late
		var next Report
		if next, err = verifyNodes(ctx, store, again); err == nil {
			report = conclude(replaceNodes(report.Nodes, next.Nodes), o.Known)
		}
	}
	return report, err
}

// waits is how many times nodes are verified again, in equal parts of Options.Wait.
const waits = 4

// lateNodes returns the nodes with no other damage than missing ends of chains, which may still arrive.
func lateNodes(r *Report) (late []string) {
	for _, n := range r.Nodes {
		other := func(d verify.Damage) bool { return !d.Absent }
		if !n.OK && !slices.ContainsFunc(n.damage, other) {
			late = append(late, n.Node)
		}
	}
	return late
}

// replaceNodes returns all nodes, with newer results where there are any.
func replaceNodes(all, newer []Node) []Node {
	for _, n := range newer {
		if i := slices.IndexFunc(all, func(o Node) bool { return o.Node == n.Node }); i >= 0 {
			all[i] = n
		}
	}
	return all
}

// verifyNodes verifies the nodes that the options name, once.
func verifyNodes(ctx context.Context, store fleet.Store, o Options) (Report, error) {
	chains, err := store.Chains(ctx)
	if err != nil {
		return Report{}, fmt.Errorf("listing the chains: %w", err)
	}
	all, err := readStated(ctx, store, chains)
	if err != nil {
		return Report{}, fmt.Errorf("reading the keys: %w", err)
	}
	byNode := map[string][]fleet.Chain{}
	for _, c := range chains {
		byNode[c.Node] = append(byNode[c.Node], c)
	}
	for node := range o.Known.nodes() {
		byNode[node] = append(byNode[node], nil...)
	}
	r := &run{ctx: ctx, store: store, options: o, keys: newKeyring(o.pinned(), all), chains: byNode}
	for node := range byNode {
		if len(o.Nodes) == 0 || slices.Contains(o.Nodes, node) {
			r.nodes = append(r.nodes, node)
		}
	}
	slices.Sort(r.nodes)
	return r.all()
}

// pinned returns the keys that the caller gave and those of the known state.
func (o *Options) pinned() map[string][]string {
	keys := map[string][]string{}
	for node, list := range o.Known.keys() {
		keys[node] = append(keys[node], list...)
	}
	for node, list := range o.Keys {
		keys[node] = slices.Clone(list) // what the caller gives counts alone
	}
	return keys
}

// run is one call of Verify.
type run struct {
	ctx     context.Context //nolint:containedctx // of one call of Verify
	store   fleet.Store
	options Options
	keys    *keyring
	chains  map[string][]fleet.Chain
	nodes   []string

	mu       sync.Mutex
	progress Progress
}

// all verifies the nodes, several at a time, and adds up the results.
func (r *run) all() (Report, error) {
	results := make([]Node, len(r.nodes))
	r.progress.Nodes = len(r.nodes)
	group, ctx := errgroup.WithContext(r.ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, name := range r.nodes {
		group.Go(func() (err error) {
			results[i], err = r.node(ctx, name)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return Report{}, cmp.Or(r.ctx.Err(), err)
	}
	return conclude(results, r.options.Known), nil
}

// unshipped reports whether damage of a node is only that entries are missing which the store never had according to
// the known state: only other entries of the node name them.
func (s *State) unshipped(n *Node, d verify.Damage) bool {
	if !d.Absent || s == nil {
		return d.Absent
	}
	size := uint64(0)
	if i := slices.IndexFunc(n.Chains, func(c verify.Chain) bool { return c.Chain == d.Chain }); i >= 0 {
		size = n.Chains[i].Size
	}
	return s.Heads[fleet.Chain{Node: n.Node, Name: d.Chain}].Size <= size
}

func conclude(nodes []Node, known *State) Report {
	report := Report{Nodes: nodes, Damage: []Damage{}}
	for i := range nodes {
		report.Entries += nodes[i].Entries
		report.Bytes += nodes[i].Bytes
		for _, d := range nodes[i].damage {
			report.Damage = append(report.Damage, Damage{Node: nodes[i].Node, Damage: d, Unshipped: known.unshipped(&nodes[i], d)})
		}
	}
	report.OK = len(report.Damage) == 0
	return report
}

// node verifies one node.
func (r *run) node(ctx context.Context, name string) (Node, error) {
	n := Node{Node: name, Keys: r.keys.trusted(name), New: len(r.keys.pinned[name]) == 0, signer: map[string]string{}}
	read := int64(0)
	report, err := verify.FS(ctx, New(ctx, r.store, r.chains[name]), verify.Options{
		EntriesOnly: true,
		Keys:        n.Keys,
		Known:       r.options.Known.of(name),
		Progress:    func(p verify.Progress) { r.advance(p.Bytes-read, 0); read = p.Bytes },
	})
	if err != nil && !errors.Is(err, verify.ErrNoLedger) { // all that is known of the node are chains without entries
		return n, fmt.Errorf("reading node %s: %w", name, err)
	}
	n.Entries, n.Bytes, n.Chains, n.Pruned = report.Entries, report.Bytes, report.Chains, report.Pruned
	untrusted := r.keys.untrusted(name, n.Keys)
	for _, d := range report.Damage {
		if _, better := untrusted[d.Chain]; !better {
			n.damage = append(n.damage, d)
		}
	}
	for _, c := range r.chains[name] {
		if d, found := untrusted[c.Name]; found {
			n.damage = append(n.damage, d)
		}
		if !slices.ContainsFunc(n.Chains, func(read verify.Chain) bool { return read.Chain == c.Name }) {
			n.damage = append(n.damage, verify.Damage{Kind: "wrong-chain", Chain: c.Name, Text: "this is not the name of a chain, so no ledger has written it"})
		}
	}
	if !fleet.ValidNode(name) {
		n.damage = append(n.damage, verify.Damage{Kind: "wrong-chain", Text: "this is not the name of a node, so none has written it"})
	}
	for _, s := range r.keys.byNode[name] {
		n.signer[s.chain.Name] = s.said.Key
	}
	n.OK = len(n.damage) == 0
	r.advance(report.Bytes-read, 1)
	return n, nil
}

// advance reports progress.
func (r *run) advance(bytes int64, nodes int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.progress.Bytes += max(bytes, 0)
	r.progress.Done += nodes
	if r.options.Progress != nil {
		r.options.Progress(r.progress)
	}
}
