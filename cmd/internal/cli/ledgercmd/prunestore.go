package ledgercmd

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/cmd/internal/fleet/view"
	"github.com/candor-mcp/candor/ledger"
)

// planStore verifies a store and finds what can be removed from it. The returned function closes the store.
func (c *pruneCommand) planStore(p *pruning, url string) (closeStore func(), err error) {
	if err := c.refuse("a store removes only what its nodes have removed", "keep-bytes", "force", "witness-copy"); err != nil {
		return func() {}, err
	}
	s, err := c.store(&c.command, url)
	if err != nil {
		return func() {}, err
	}
	closeStore = func() { _ = s.Close() } // nothing is pending
	verified, err := view.Verify(c.cmd.Context(), s.Store, s.options)
	if err == nil {
		p.Damage = verified.Damage
		err = c.findRemovable(p, s.Store, &verified)
	}
	if err != nil {
		return closeStore, term.StoreError(err)
	}
	p.nothing = "the nodes have recorded no removal of entries that are in the store and old enough"
	p.hint = [2]string{"nothing is removed from a node that is damaged or incomplete", "run candor ledger verify"}
	p.remove = func() error {
		for _, r := range p.Removed {
			if err := s.Remove(c.cmd.Context(), fleet.Chain{Node: r.Node, Name: r.Chain}, r.Through); err != nil {
				return term.StoreError(err)
			}
		}
		return nil
	}
	return closeStore, nil
}

// findRemovable finds what can be removed from the nodes that are not damaged.
func (c *pruneCommand) findRemovable(p *pruning, store fleet.Store, verified *view.Report) error {
	cutoff := c.env.Now().Add(-c.keep.Age)
	for i := range verified.Nodes {
		n := &verified.Nodes[i]
		if !n.OK {
			continue
		}
		last := map[string]uint64{} // removed entry, by chain
		for _, p := range n.Pruned {
			last[p.Chain] = max(last[p.Chain], p.Seq)
		}
		for _, chain := range slices.Sorted(maps.Keys(last)) {
			r, err := removable(c.cmd.Context(), store, fleet.Chain{Node: n.Node, Name: chain}, last[chain], cutoff)
			if err != nil {
				return err
			}
			if r.Entries > 0 {
				p.add(r)
			}
		}
	}
	return nil
}

// removable returns the entries of a chain up to a number that are older than cutoff, as far as whole segments: only the first entry of a
// segment holds the tree that the verification continues with. The last entry of a chain stays, so that the node sees that the store had
// all of them.
func removable(ctx context.Context, store fleet.Store, chain fleet.Chain, through uint64, cutoff time.Time) (found removal, err error) {
	found = removal{Node: chain.Node, Chain: chain.Name}
	read, before := found, found
	for stored, err := range store.Lines(ctx, chain, 0) {
		if err != nil {
			return found, err
		}
		line, err := ledger.ParseLine(stored.Line)
		if err != nil {
			return found, fmt.Errorf("chain %s changed since it was verified", chain)
		}
		if read.Entries > 0 && line.Kind == ledger.KindCheckpoint && bytes.Contains(stored.Line, []byte(`"tree":`)) && !line.Time.After(cutoff) {
			found = read // a segment begins here
		}
		if line.Seq > through {
			return found, nil
		}
		before = read
		read.Through, read.Last = line.Seq, line.Time
		read.Entries++
		read.Bytes += int64(len(stored.Line)) + 1
	}
	if read.Through == through && !read.Last.After(cutoff) {
		found = before // the whole chain
	}
	return found, nil
}
