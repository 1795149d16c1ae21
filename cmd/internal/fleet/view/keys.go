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
	said  KeyStatement
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
				if said, ok := StatedKeys(&line); ok {
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
	owners map[string][]string // the nodes that state a key, or only those that it is pinned for
	byNode map[string][]stated
}

func newKeyring(pinned map[string][]string, all []stated) *keyring {
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
	return k
}

// started returns the part of a chain's name with the time when it began, which sorts as text.
func started(chain string) string {
	const tail = len("20261115T040506789Z-0123abcd")
	return chain[max(0, len(chain)-tail):]
}

// assign gives each key to the node that it is pinned for, directly or by rotations, else to all nodes that state it. Any node can state the
// key of another: the first entry of a chain proves nothing.
func (k *keyring) assign() {
	for _, node := range slices.Sorted(maps.Keys(k.byNode)) {
		for _, s := range k.byNode[node] {
			if !slices.Contains(k.owners[s.said.Key], node) {
				k.owners[s.said.Key] = append(k.owners[s.said.Key], node)
			}
		}
	}
	for _, node := range slices.Sorted(maps.Keys(k.pinned)) {
		for _, key := range k.connected(node, k.pinned[node]) {
			k.owners[key] = []string{node}
		}
	}
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

// untrusted returns the damage of the chains of a node that begin with a key that is not trusted, or that may belong to another node.
func (k *keyring) untrusted(node string, trusted []string) map[string]verify.Damage {
	found := map[string]verify.Damage{}
	for _, s := range k.byNode[node] {
		owners := k.owners[s.said.Key]
		var text string
		switch {
		case slices.Contains(owners, node) && len(owners) > 1:
			text = "the owner of this key is unknown: nodes " + strings.Join(owners, ", ") + " state it (hint: name the right keys with --key)"
		case slices.Contains(trusted, s.said.Key):
			continue
		case slices.Contains(owners, node):
			text = "the chain is signed with a key that is not the node's, and no rotation signed with the node's key names it"
		default:
			text = "the chain states the key of node " + strings.Join(owners, ", ")
		}
		found[s.chain.Name] = verify.Damage{Kind: "unknown-key", Chain: s.chain.Name, Seq: 1, Text: text}
	}
	return found
}
