package view

import (
	"cmp"
	"context"
	"slices"

	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/ledger"
	"github.com/candor-mcp/candor/ledger/verify"
)

// stated is what the first entry of a chain states about keys.
type stated struct {
	chain fleet.Chain
	said  verify.KeyStatement
}

// readStated reads the first line of every chain. Chains without a valid first entry are left out: they were pruned, or they are
// damaged, which the verification finds.
func readStated(ctx context.Context, store fleet.Store, chains []fleet.Chain) ([]stated, error) {
	var all []stated
	for _, c := range chains {
		for stored, err := range store.Lines(ctx, c, 0) {
			if err != nil {
				return nil, err
			}
			line, err := ledger.ParseLine(stored.Line)
			if err == nil && line.In(c.Name) {
				if said, ok := verify.StatedKeys(&line); ok {
					all = append(all, stated{c, said})
				}
			}
			break
		}
	}
	return all, nil
}

// keyring decides which keys are trusted for which node.
type keyring struct {
	pinned map[string][]string // by node
	owner  map[string]string   // the node that a key belongs to
	byNode map[string][]stated
}

func newKeyring(pinned map[string][]string, all []stated) *keyring {
	k := &keyring{pinned: pinned, owner: map[string]string{}, byNode: map[string][]stated{}}
	for _, s := range all {
		k.byNode[s.chain.Node] = append(k.byNode[s.chain.Node], s)
	}
	for _, list := range k.byNode {
		slices.SortFunc(list, func(a, b stated) int {
			return cmp.Or(cmp.Compare(started(a.chain.Name), started(b.chain.Name)), cmp.Compare(a.chain.Name, b.chain.Name))
		})
	}
	k.assign()
	return k
}

// started returns the part of a chain's name that tells when it began, which sorts as text.
func started(chain string) string {
	const tail = len("20261115T040506789Z-0123abcd")
	return chain[max(0, len(chain)-tail):]
}

// assign decides which node a key belongs to if several nodes use it: the one that it is pinned for, else the one that signs the most
// chains with it, else the one with the fewest other keys. So a chain that was moved to another node does not make its key one of
// that node's.
func (k *keyring) assign() {
	type use struct {
		node         string
		chains, keys int
	}
	uses := map[string][]use{}
	for node, list := range k.byNode {
		count := map[string]int{}
		for _, s := range list {
			count[s.said.Key]++
		}
		for key, n := range count {
			uses[key] = append(uses[key], use{node, n, len(count)})
		}
	}
	for key, list := range uses {
		slices.SortFunc(list, func(a, b use) int {
			return cmp.Or(cmp.Compare(b.chains, a.chains), cmp.Compare(a.keys, b.keys), cmp.Compare(a.node, b.node))
		})
		k.owner[key] = list[0].node
	}
	for node, keys := range k.pinned {
		for _, key := range keys {
			k.owner[key] = node
		}
	}
}

// trusted returns the keys of a node: those that are pinned or, if there are none, the key of its oldest chain, and all that signed
// rotations connect with them.
func (k *keyring) trusted(node string) []string {
	keys := slices.Clone(k.pinned[node])
	for _, s := range k.byNode[node] {
		if len(keys) == 0 && k.owner[s.said.Key] == node {
			keys = append(keys, s.said.Key)
		}
	}
	for grown := true; grown; {
		grown = false
		for _, s := range k.byNode[node] {
			for _, r := range s.said.Rotations {
				knowsOld, knowsNew := slices.Contains(keys, r.Old), slices.Contains(keys, r.New)
				switch {
				case knowsOld && !knowsNew:
					keys, grown = append(keys, r.New), true
				case knowsNew && !knowsOld:
					keys, grown = append(keys, r.Old), true
				}
			}
		}
	}
	return keys
}

// untrusted returns the damage of the chains of a node whose first entry states a key that is not trusted.
func (k *keyring) untrusted(node string, trusted []string) map[string]verify.Damage {
	found := map[string]verify.Damage{}
	for _, s := range k.byNode[node] {
		if slices.Contains(trusted, s.said.Key) {
			continue
		}
		text := "the chain is signed with a key that is not the node's, and no rotation signed with the node's key names it"
		if owner := k.owner[s.said.Key]; owner != node {
			text = "the chain is signed with the key of node " + owner
		}
		found[s.chain.Name] = verify.Damage{Kind: verify.KindUnknownKey, Chain: s.chain.Name, Seq: 1, Text: text}
	}
	return found
}
