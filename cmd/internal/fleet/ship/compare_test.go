package ship

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/internal/testing/wait"
	"github.com/candor-mcp/candor/ledger"
)

// shippedOnce ships a few entries of one chain and returns its name.
func shippedOnce(t *testing.T, dir string, store fleet.Store, n int) string {
	t.Helper()
	r := start(t, dir, store, "", ledger.Options{})
	chain := r.append(n).Chain
	r.close()
	return chain
}

func TestAForkedChainIsNotShipped(t *testing.T) {
	t.Parallel()
	dir, store := t.TempDir(), newStore(t)
	chain := shippedOnce(t, dir, store, 20)
	forged := []byte(strings.Replace(string(stored(t, store, chain)[9]), `"tool":"t"`, `"tool":"u"`, 1))
	forged = rehash(forged)
	store.edit(t, chain, append(stored(t, store, chain)[:9], forged))
	r := start(t, dir, store, "", ledger.Options{})
	wait.Until(t, "the fork is found", func() bool { return r.shipper.Stats().Problems[chain] != "" })
	own := r.append(1).Chain
	wait.Until(t, "the problem is recorded", func() bool { return bytes.Contains(bytes.Join(local(t, dir, own), nil), []byte(`"shipping":{`)) })
	wait.Until(t, "the other chain is shipped", func() bool { return len(stored(t, store, own)) >= 2 })
	if !strings.Contains(r.log.String(), "entry=10") || !strings.Contains(r.log.String(), chain) {
		t.Errorf("log:\n%s", r.log)
	}
	if got := stored(t, store, chain); len(got) != 10 {
		t.Errorf("the store has %d lines of the forked chain", len(got))
	}
	wait.Until(t, "the folder notes nothing of the fork as shipped", func() bool { return r.shipper.readCursor(chain).Seq == 0 })
}

// TestAnEntryOfAnotherWriterConfirmsNothing has a second process with the same chain, as a copy of a running machine has.
func TestAnEntryOfAnotherWriterConfirmsNothing(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"both", "quorum"} {
		dir, store := t.TempDir(), newStore(t)
		r := start(t, dir, store, "ack="+mode, ledger.Options{})
		chain := fleet.Chain{Node: "n", Name: r.append(5).Chain}
		head, err := store.Head(t.Context(), chain)
		if err != nil {
			t.Fatal(err)
		}
		lines := stored(t, store, chain.Name)
		if err := store.Append(t.Context(), chain, head, [][]byte{after(t, lines[len(lines)-1])}); err != nil {
			t.Fatal(err)
		}
		receipt, err := r.ledger.Append(t.Context(), ledger.Entry{Kind: ledger.KindSuccess})
		if candor.CodeOf(err) != candor.CodeLedgerFailed {
			t.Errorf("%s: entry %d was acknowledged (%v), and the store has another one", mode, receipt.Seq, err)
		}
		wait.Until(t, "the fork is found", func() bool { return r.shipper.Stats().Problems[chain.Name] != "" })
		_ = r.ledger.Close()
		if _, err := r.shipper.Close(cancelled()); err != nil {
			t.Error(err)
		}
		if r.shipper.root, err = os.OpenRoot(dir); err != nil {
			t.Fatal(err)
		}
		if noted := r.shipper.readCursor(chain.Name); noted.Seq > head.Seq {
			t.Errorf("%s: the folder notes entry %d as shipped, and the store has %d of them", mode, noted.Seq, head.Seq)
		}
		_ = r.shipper.root.Close()
		r.shipper = nil
	}
}

// after returns an entry that follows line.
func after(t *testing.T, line []byte) []byte {
	t.Helper()
	l, err := ledger.ParseLine(line)
	if err != nil {
		t.Fatal(err)
	}
	next := bytes.Replace(line, fmt.Appendf(nil, `"seq":%d,`, l.Seq), fmt.Appendf(nil, `"seq":%d,`, l.Seq+1), 1)
	return rehash(bytes.Replace(next, fmt.Appendf(nil, "%x", l.Prev), fmt.Appendf(nil, "%x", l.Hash), 1))
}

// rehash gives a changed line a hash that fits.
func rehash(line []byte) []byte {
	cut := bytes.LastIndex(line, []byte(`,"hash":"`))
	return fmt.Appendf(nil, `%s,"hash":"%x"}`, line[:cut], sum(line[:cut]))
}

func TestAFolderThatWasSetBackIsFound(t *testing.T) {
	t.Parallel()
	dir, store := t.TempDir(), newStore(t)
	r := start(t, dir, store, "", ledger.Options{})
	r.append(5)
	old := copyOf(t, dir)
	chain := r.append(5).Chain
	r.close()
	r = start(t, old, store, "", ledger.Options{})
	wait.Until(t, "the longer copy is found", func() bool { return strings.Contains(r.shipper.Stats().Problems[chain], "set back") })
	if len(stored(t, store, chain)) != len(local(t, dir, chain)) {
		t.Error("the store was changed")
	}
}

func TestEntriesThatTheStoreLostAreShippedAgain(t *testing.T) {
	t.Parallel()
	dir, store := t.TempDir(), newStore(t)
	chain := shippedOnce(t, dir, store, 20)
	store.edit(t, chain, stored(t, store, chain)[:5])
	r := start(t, dir, store, "", ledger.Options{})
	wait.Until(t, "the chain is whole again", func() bool { return len(stored(t, store, chain)) == len(local(t, dir, chain)) })
	if s := r.shipper.Stats(); s.Lost == 0 || !strings.Contains(r.log.String(), "the store lost entries it had acknowledged") {
		t.Errorf("stats %+v, log:\n%s", s, r.log)
	}
	r.close()
	same(t, dir, store)
}

// TestLocalRecoversItsOwnChainsWithoutTheStore recovers a chain that was synced, while the store is away.
func TestLocalRecoversItsOwnChainsWithoutTheStore(t *testing.T) {
	t.Parallel()
	dir, store := t.TempDir(), newStore(t)
	r := start(t, dir, store, "", ledger.Options{})
	r.append(5)
	killed := copyOf(t, dir)
	r.close()
	store.set(away, nil)
	r = start(t, killed, store, "", ledger.Options{})
	r.append(1)
}

func TestADamagedLineIsNotShipped(t *testing.T) {
	t.Parallel()
	store := newStore(t)
	dir, chain := written(t, 10)
	file := filepath.Join(dir, chain, "audit-log.jsonl")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	lines[5] = bytes.Replace(lines[5], []byte(`"tool":"t"`), []byte(`"tool":"u"`), 1)
	if err := os.WriteFile(file, bytes.Join(lines, nil), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Start(t.Context(), configOf(dir, store, "", io.Discard))
	if err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "the damage is found", func() bool { return strings.Contains(s.Stats().Problems[chain], "entry 6") })
	if got := stored(t, store, chain); len(got) != 5 {
		t.Errorf("the store has %d lines, want the 5 before the damage", len(got))
	}
	if _, err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestRetentionKeepsWhatTheStoreDoesNotHave(t *testing.T) {
	t.Parallel()
	dir, store := t.TempDir(), newStore(t)
	store.set(away, nil)
	r := start(t, dir, store, "", ledger.Options{MaxSegmentBytes: 4 << 10})
	own := r.append(200).Chain
	pruned := func() int {
		p, err := ledger.Prunable(dir, ledger.Options{RetainBytes: 1})
		if err != nil {
			t.Fatal(err)
		}
		return len(p.Removed)
	}
	if n := pruned(); n != 0 {
		t.Errorf("%d segments would be removed", n)
	}
	store.set(nil, nil)
	wait.Until(t, "shipped segments may be removed", func() bool { return pruned() > 5 })
	if _, err := ledger.Prune(t.Context(), dir, ledger.Options{RetainBytes: 1}); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "the chain that records the removal is shipped", func() bool {
		return !slices.ContainsFunc(chainsOf(t, dir), func(name string) bool { return name != own && len(stored(t, store, name)) < len(local(t, dir, name)) })
	})
	r.close()
	// The chain can still be compared with the store, and a new process has nothing to complain about.
	r = start(t, dir, store, "", ledger.Options{})
	r.shipper.Wait(t.Context())
	if s := r.shipper.Stats(); len(s.Problems) > 0 || s.Lost > 0 {
		t.Errorf("stats: %+v", s)
	}
	r.close()
}

// TestChainsThatWerePrunedBeforeAreNoProblem turns shipping on in a folder from which retention has removed whole chains.
func TestChainsThatWerePrunedBeforeAreNoProblem(t *testing.T) {
	t.Parallel()
	dir, pruned := written(t, 20)
	if _, err := ledger.Prune(t.Context(), dir, ledger.Options{RetainBytes: 1}); err != nil {
		t.Fatal(err)
	}
	if files, _ := filepath.Glob(filepath.Join(dir, pruned, "audit-log.*")); len(files) > 0 || !slices.Contains(chainsOf(t, dir), pruned) {
		t.Fatalf("%v is left of chain %s", files, pruned)
	}
	store := newStore(t)
	for range 2 {
		r := start(t, dir, store, "", ledger.Options{})
		r.append(3)
		r.shipper.Wait(t.Context())
		if s := r.shipper.Stats(); len(s.Problems) > 0 || s.Waiting > 0 {
			t.Errorf("stats: %+v", s)
		}
		r.close()
	}
	if n := len(stored(t, store, pruned)); n > 0 {
		t.Errorf("the store has %d lines of a chain that is not there", n)
	}
}

func TestAFolderBelongsToOneNode(t *testing.T) {
	t.Parallel()
	dir, store := t.TempDir(), newStore(t)
	chain := shippedOnce(t, dir, store, 3)
	c := configOf(dir, store, "", io.Discard)
	c.At.Node = "other"
	if _, err := Start(t.Context(), c); err == nil || !strings.Contains(err.Error(), "node=n") {
		t.Errorf("another node: %v", err)
	}
	c = configOf(dir, newStore(t), "", io.Discard)
	c.At.URL.Host = "new-store"
	s, err := Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	s.Wait(t.Context())
	if st := s.Stats(); st.Lost > 0 || st.Shipped != uint64(len(local(t, dir, chain))) {
		t.Errorf("after a change of the store: %+v", st)
	}
	if _, err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestLocateReadsFoldersAndStores(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ named, dir, store string }{
		{"", "fallback", ""},
		{"here", "here", ""},
		{"none", "none", ""},
		{"file:here", "here", ""},
		{"file:///a%20b", "/a b", ""},
		{"file:/store?dir=here", "here", "file:///store"},
		{"nats://h/S?dir=here", "here", "nats://h/S"},
		{"nats://h?node=x", "fallback", "nats://h"},
	} {
		dir, at, err := Locate(c.named, func() (string, error) { return "fallback", nil })
		store := ""
		if at != nil {
			store = at.String()
		}
		if err != nil || dir != c.dir || store != c.store && !strings.HasPrefix(c.store, "file:") || (store == "") != (c.store == "") {
			t.Errorf("%+v: %q, %q, %v", c, dir, store, err)
		}
	}
	for _, bad := range []string{"file:", "file://host/x", "nats://u:secret@h"} {
		if dir, _, err := Locate(bad, nil); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %q, %v", bad, dir, err)
		}
	}
}
