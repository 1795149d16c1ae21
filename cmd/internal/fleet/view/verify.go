package view

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

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
	// Wait is how long to wait for entries that the store does not have although other entries of the node name them. A node ships its
	// chains side by side, so they may arrive a moment later. A node that makes progress is waited for again. 0 means no wait.
	Wait time.Duration
	// Parallel is how many nodes are read at the same time; 0 means as many as there are processors.
	Parallel int
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
	Node string `json:"node"`
	verify.Damage
	// Unshipped means that the node names entries that the store does not have and, as far as is known, never had: the node has not
	// shipped them yet, or they were removed before a checkpoint covered them.
	Unshipped bool `json:"unshipped,omitempty"`
}

// String returns the node, the location, the kind and the text.
func (d Damage) String() string { return d.Node + "/" + d.Damage.String() }

// Verify reads every entry of a store, once for most chains, and verifies each node by itself: what the entries of one node state
// about another never counts. Damage is in the report; the error is not nil only if the store cannot be read or ctx is cancelled.
// Memory depends on the number of chains, not on that of the entries.
func Verify(ctx context.Context, store fleet.Store, o Options) (Report, error) {
	report, err := verifyNodes(ctx, store, o)
	for range maxWaits {
		late := lateNodes(&report)
		if err != nil || o.Wait <= 0 || len(late) == 0 || !arriving(ctx, store, late, o.Wait) {
			break
		}
		again := o
		again.Nodes = nil
		for i := range late {
			again.Nodes = append(again.Nodes, late[i].Node)
		}
		var next Report
		if next, err = verifyNodes(ctx, store, again); err == nil {
			report = conclude(replaceNodes(report.Nodes, next.Nodes), o.Known)
		}
	}
	return report, err
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
	keys, err := newKeyring(ctx, store, byNode, o.pinned(), all)
	if err != nil {
		return Report{}, fmt.Errorf("reading who has signed: %w", err)
	}
	r := &run{ctx: ctx, store: store, options: o, keys: keys, chains: byNode}
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
	ctx, cancel := context.WithCancelCause(r.ctx)
	defer cancel(nil)
	results := make([]Node, len(r.nodes))
	r.progress.Nodes = len(r.nodes)
	parallel := r.options.Parallel
	if parallel <= 0 {
		parallel = runtime.GOMAXPROCS(0)
	}
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(parallel, len(r.nodes)) {
		workers.Go(func() {
			for i := range next {
				var err error
				if results[i], err = r.node(ctx, r.nodes[i]); err != nil {
					cancel(err) // the others need not continue; the first error is the cause of theirs
				}
			}
		})
	}
	for i := range r.nodes {
		next <- i
	}
	close(next)
	workers.Wait()
	if err := r.ctx.Err(); err != nil {
		return Report{}, err
	}
	if err := context.Cause(ctx); err != nil {
		return Report{}, err
	}
	return conclude(results, r.options.Known), nil
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
			n.damage = append(n.damage, verify.Damage{Kind: verify.KindWrongChain, Chain: c.Name, Text: "this is not the name of a chain, so no ledger has written it"})
		}
	}
	if !fleet.ValidNode(name) {
		n.damage = append(n.damage, verify.Damage{Kind: verify.KindWrongChain, Text: "this is not the name of a node, so none has written it"})
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
