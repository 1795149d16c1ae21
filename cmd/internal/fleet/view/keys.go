package view

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

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
	owners map[string][]string // the nodes that a key may belong to: more than one if nothing tells whose it is
	byNode map[string][]stated
}

// newKeyring reads the beginning of chains only if several nodes state the same key.
func newKeyring(ctx context.Context, store fleet.Store, chains map[string][]fleet.Chain, pinned map[string][]string, all []stated) (*keyring, error) {
	k := &keyring{pinned: pinned, owners: map[string][]string{}, byNode: map[string][]stated{}}
	for _, s := range all {
		k.byNode[s.chain.Node] = append(k.byNode[s.chain.Node], s)
	}
	for _, list := range k.byNode {
		slices.SortFunc(list, func(a, b stated) int {
			return cmp.Or(cmp.Compare(started(a.chain.Name), started(b.chain.Name)), cmp.Compare(a.chain.Name, b.chain.Name))
		})
	}
	k.assign()
	return k, k.settle(ctx, store, chains)
}

// started returns the part of a chain's name that tells when it began, which sorts as text.
func started(chain string) string {
	const tail = len("20261115T040506789Z-0123abcd")
	return chain[max(0, len(chain)-tail):]
}

// assign gives each key to the node that it is pinned for, directly or by rotations, else to all nodes that state it.
func (k *keyring) assign() {
	for node, list := range k.byNode {
		for _, s := range list {
			if !slices.Contains(k.owners[s.said.Key], node) {
				k.owners[s.said.Key] = append(k.owners[s.said.Key], node)
			}
		}
	}
	for _, nodes := range k.owners {
		slices.Sort(nodes)
	}
	for _, node := range slices.Sorted(maps.Keys(k.pinned)) {
		for _, key := range k.connected(node, k.pinned[node]) {
			k.owners[key] = []string{node}
		}
	}
}

// settle decides whose a key is that several nodes state: that of the node with the most chains that it has signed. Any node can state the
// key of another, and only copy what that one has signed. If several nodes have as many, the key remains with all of them.
func (k *keyring) settle(ctx context.Context, store fleet.Store, chains map[string][]fleet.Chain) error {
	disputed := map[string][]string{} // keys by node
	for key, nodes := range k.owners {
		for _, node := range nodes {
			if len(nodes) > 1 {
				disputed[node] = append(disputed[node], key)
			}
		}
	}
	signed := map[string]map[string]int{} // chains by node and key
	for node, keys := range disputed {
		count, err := countSigned(ctx, store, chains[node], keys)
		if err != nil {
			return err
		}
		signed[node] = count
	}
	for key, nodes := range k.owners {
		if len(nodes) < 2 {
			continue
		}
		most := 0
		for _, node := range nodes {
			most = max(most, signed[node][key])
		}
		k.owners[key] = slices.DeleteFunc(nodes, func(node string) bool { return signed[node][key] < most })
	}
	return nil
}

// trusted returns the keys of a node: those that are pinned or, if there are none, the key of its oldest chain, and all that signed
// rotations connect with them.
func (k *keyring) trusted(node string) []string {
	keys := k.pinned[node]
	for _, s := range k.byNode[node] {
		if len(keys) == 0 && slices.Contains(k.owners[s.said.Key], node) {
			keys = []string{s.said.Key}
		}
	}
	return k.connected(node, keys)
}

// connected returns keys and all that the rotations of a node connect with them.
func (k *keyring) connected(node string, keys []string) []string {
	keys = slices.Clone(keys)
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

// untrusted returns the damage of the chains of a node whose first entry states a key that is not trusted, or one that may as well be that
// of another node.
func (k *keyring) untrusted(node string, trusted []string) map[string]verify.Damage {
	found := map[string]verify.Damage{}
	for _, s := range k.byNode[node] {
		owners := k.owners[s.said.Key]
		var text string
		switch {
		case slices.Contains(owners, node) && len(owners) > 1:
			text = "nothing tells whose key this is: nodes " + strings.Join(owners, ", ") + " have as many chains signed with it (hint: name the right keys with --key)"
		case slices.Contains(trusted, s.said.Key):
			continue
		case slices.Contains(owners, node):
			text = "the chain is signed with a key that is not the node's, and no rotation signed with the node's key names it"
		default:
			text = "the chain states the key of node " + strings.Join(owners, ", ")
		}
		found[s.chain.Name] = verify.Damage{Kind: verify.KindUnknownKey, Chain: s.chain.Name, Seq: 1, Text: text}
	}
	return found
}
