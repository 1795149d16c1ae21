package view_test

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/cmd/internal/fleet/view"
	"github.com/candor-mcp/candor/ledger"
)

// writeNode ships n chains of a node, and returns its key.
func writeNode(t *testing.T, store fleet.Store, node string, n int) (key string) {
	t.Helper()
	dir := t.TempDir()
	for range n {
		writeChain(t, dir, 5, ledger.Options{})
	}
	ship(t, store, node, dir)
	keys, err := ledger.PublicKeys(dir)
	if err != nil {
		t.Fatal(err)
	}
	return keys[0]
}

// forgeKey makes all first entries of a node state another key. The node can do that with its own chains.
func forgeKey(t *testing.T, store *memory, node, own, other string) {
	t.Helper()
	for _, chain := range chainsOf(t, store, node) {
		store.Edit(chain, func(lines [][]byte) [][]byte {
			first := bytes.Replace(lines[0], []byte(own), []byte(other), 1)
			if bytes.Equal(first, lines[0]) {
				t.Errorf("%s does not state the key", chain)
			}
			return relink(slices.Concat([][]byte{rehash(first)}, lines[1:]))
		})
	}
}

func chainsOf(t *testing.T, store fleet.Store, node string) []fleet.Chain {
	t.Helper()
	all, err := store.Chains(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(all, func(c fleet.Chain) bool { return c.Node != node })
}

// copyNode copies the lines of all chains of a node to another node.
func copyNode(t *testing.T, store *memory, from, to string) {
	t.Helper()
	for _, chain := range chainsOf(t, store, from) {
		var lines [][]byte
		for stored, err := range store.Lines(context.Background(), chain, 0) {
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, slices.Clone(stored.Line))
		}
		store.Edit(fleet.Chain{Node: to, Name: chain.Name}, func([][]byte) [][]byte { return lines })
	}
}

// requireUnknownKeys requires that the damage is about keys, and returns it. The nodes are those that have any.
func requireUnknownKeys(t *testing.T, store fleet.Store, o view.Options, nodes ...string) []view.Damage {
	t.Helper()
	report, err := view.Verify(context.Background(), store, o)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, d := range report.Damage {
		if d.Kind != "unknown-key" {
			t.Errorf("got %s, want %s", d, "unknown-key")
		}
		found = append(found, d.Node)
	}
	if found = slices.Compact(found); !slices.Equal(found, nodes) {
		t.Errorf("nodes with damage: %v, want %v: %v", found, nodes, report.Damage)
	}
	return report.Damage
}

// TestStatedKeyOfAnotherNodeIsNotBelieved has a node with more chains that state the key of another than that one has. The first entry of
// a chain is not signed, so it proves nothing.
func TestStatedKeyOfAnotherNodeIsNotBelieved(t *testing.T) {
	store := newMemory()
	key := writeNode(t, store, "web", 2)
	forgeKey(t, store, "evil", writeNode(t, store, "evil", 3), key)
	for _, d := range requireUnknownKeys(t, store, view.Options{Keys: map[string][]string{"web": {key}}}, "evil") {
		if !strings.Contains(d.Text, "the key of node web") {
			t.Errorf("got %s, want the owner named", d)
		}
	}
}

// TestCopyOfAWholeNodeNamesBoth has a node with copies of all chains of another. Which is the copy, only the operator can tell.
func TestCopyOfAWholeNodeNamesBoth(t *testing.T) {
	store := newMemory()
	key := writeNode(t, store, "web", 2)
	copyNode(t, store, "web", "evil")
	for _, d := range requireUnknownKeys(t, store, view.Options{}, "evil", "web") {
		if !strings.Contains(d.Text, "nodes evil, web") || !strings.Contains(d.Text, "--key") {
			t.Errorf("got %s, want both nodes and what to do", d)
		}
	}
	requireUnknownKeys(t, store, view.Options{Keys: map[string][]string{"web": {key}}}, "evil")
}

// TestRotatedKeyBelongsToTheNodeOfTheOldOne has a node with a copy of the only chain of a key that a rotation connects with a known one.
func TestRotatedKeyBelongsToTheNodeOfTheOldOne(t *testing.T) {
	store, dir := newMemory(), t.TempDir()
	writeChain(t, dir, 5, ledger.Options{})
	ship(t, store, "web", dir)
	state := stateOf(t, mustVerify(t, store, view.Options{}))
	rotate(t, dir)
	writeChain(t, dir, 5, ledger.Options{})
	ship(t, store, "web", dir)
	copyNode(t, store, "web", "evil")
	requireUnknownKeys(t, store, view.Options{Known: state}, "evil")
}
