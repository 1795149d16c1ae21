package view

import (
	"context"
	"slices"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/ledger/verify"
)

const (
	maxWaits = 20 // that a node which makes little progress can cause
	lateLook = 100 * time.Millisecond
)

// lateNodes returns the nodes with no other damage than missing ends of chains, which may still arrive.
func lateNodes(r *Report) (late []Node) {
	for _, n := range r.Nodes {
		other := func(d verify.Damage) bool { return !d.Absent }
		if !n.OK && !slices.ContainsFunc(n.damage, other) {
			late = append(late, n)
		}
	}
	return late
}

// unshipped reports whether damage of a node is only that entries are missing which the store never had, as far as the known state
// tells: only other entries of the node name them.
func (s *State) unshipped(n *Node, d verify.Damage) bool {
	if !d.Absent {
		return false
	}
	return s == nil || s.Heads[fleet.Chain{Node: n.Node, Name: d.Chain}].Size <= n.size(d.Chain)
}

// size returns the number of the last good entry of a chain, or 0 if there is none.
func (n *Node) size(chain string) uint64 {
	if i := slices.IndexFunc(n.Chains, func(c verify.Chain) bool { return c.Chain == chain }); i >= 0 {
		return n.Chains[i].Size
	}
	return 0
}

// arriving waits until one of the damaged chains is longer than it was, or the time is over. It reports whether one is.
func arriving(ctx context.Context, store fleet.Store, late []Node, wait time.Duration) bool {
	end := time.NewTimer(wait)
	defer end.Stop()
	look := time.NewTicker(lateLook)
	defer look.Stop()
	for {
		for i := range late {
			if late[i].grown(ctx, store) {
				return true
			}
		}
		select {
		case <-look.C:
		case <-end.C:
			return false
		case <-ctx.Done():
			return false
		}
	}
}

// grown reports whether the store has more of a damaged chain than was verified.
func (n *Node) grown(ctx context.Context, store fleet.Store) bool {
	for _, d := range n.damage {
		head, err := store.Head(ctx, fleet.Chain{Node: n.Node, Name: d.Chain})
		if err == nil && head.Seq > n.size(d.Chain) {
			return true
		}
	}
	return false
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
