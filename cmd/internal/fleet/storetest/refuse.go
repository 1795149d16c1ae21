package storetest

import (
	"bytes"
	"runtime"
	"strings"
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
)

func refusesNames(t *testing.T, s *suite) {
	hostile := []string{
		"", ".", "..", "a.b", "*", ">", "a*", "a>", "a/b", "/", "../a", `a\b`, "a b", "a\x00", "a\n", "a\r\nPUB x 0", "$SYS", "ü", "a;b", "a'b", `a"b`, "a%2fb",
		strings.Repeat("a", 101),
	}
	good := fleet.Chain{Node: "n", Name: "c"}
	chains := []fleet.Chain{{Node: "n", Name: "a_b"}}
	for _, name := range hostile {
		chains = append(chains, fleet.Chain{Node: name, Name: "c"}, fleet.Chain{Node: "n", Name: name})
	}
	for _, chain := range chains {
		lines := MakeLines(good, fleet.Head{}, 1, 10)
		wantClass(t, "Append to "+chain.String(), s.Store.Append(s.ctx, chain, fleet.Head{}, lines), candor.ClassBadRequest)
		_, err := s.Store.Head(s.ctx, chain)
		wantClass(t, "Head of "+chain.String(), err, candor.ClassBadRequest)
		wantClass(t, "Remove from "+chain.String(), s.Store.Remove(s.ctx, chain, 1), candor.ClassBadRequest)
		err = nil
		for _, err = range s.Store.Lines(s.ctx, chain, 0) {
		}
		wantClass(t, "Lines of "+chain.String(), err, candor.ClassBadRequest)
		if _, err := s.Store.Grant(chain.Node); chain.Node != "n" && err == nil {
			t.Errorf("Grant for the node %q succeeded", chain.Node)
		}
	}
	if list, err := s.Store.Chains(s.ctx); err != nil || len(list) != 0 {
		t.Errorf("Chains afterwards: %v, %v", list, err)
	}
}

func refusesLines(t *testing.T, s *suite) {
	chain := fleet.Chain{Node: "n", Name: "c"}
	lines := MakeLines(chain, fleet.Head{}, 3, 10)
	head := s.append(t, chain, fleet.Head{}, lines)
	next := NextLine(chain, head, nil)
	wantClass(t, "a line of more than 2 MiB", s.Store.Append(s.ctx, chain, head, [][]byte{next, NextLine(chain, HeadOf(t, next), bytes.Repeat([]byte("x"), 2<<20))}), candor.ClassTooLarge)
	for what, bad := range map[string][]byte{
		"an empty line":         {},
		"not an entry":          []byte("hello"),
		"a line feed":           NextLine(chain, head, []byte("a\nb")),
		"a changed byte":        bytes.Replace(next, []byte("failure"), []byte("success"), 1),
		"an entry that skips":   NextLine(chain, fleet.Head{Seq: head.Seq + 7, Hash: head.Hash}, nil),
		"an entry that repeats": lines[2],
		"another chain's entry": NextLine(fleet.Chain{Node: "n", Name: "d"}, head, nil),
	} {
		wantClass(t, what, s.Store.Append(s.ctx, chain, head, [][]byte{bad}), candor.ClassBadRequest)
		wantClass(t, what+" in a batch", s.Store.Append(s.ctx, chain, head, [][]byte{next, bad}), candor.ClassBadRequest)
	}
	s.wantLines(t, s.Store, chain, lines)
}

// longChainUsesLittleMemory reads a chain of 70 MiB and compares the memory in use while it does: an engine may hold some batches, and not the chain.
func longChainUsesLittleMemory(t *testing.T, s *suite) {
	if testing.Short() {
		t.Skip("writes 70 MiB")
	}
	if s.SkipMemory {
		t.Log("does not apply: the store is in this process, so its own memory would count")
		return
	}
	const count, size, batch = 9000, 8 << 10, 200
	chain, head := fleet.Chain{Node: "n", Name: "c"}, fleet.Head{}
	for range count / batch {
		head = s.append(t, chain, head, MakeLines(chain, head, batch, size))
	}
	before, most, seen := heap(), uint64(0), uint64(0)
	for stored, err := range s.Store.Lines(s.ctx, chain, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if seen++; HeadOf(t, stored.Line).Seq != seen {
			t.Fatalf("line %d has another number", seen)
		}
		if seen%500 == 0 {
			most = max(most, heap())
		}
	}
	if seen != count {
		t.Errorf("%d lines, want %d", seen, count)
	}
	if most > before+24<<20 {
		t.Errorf("reading %d MiB used up to %d MiB of memory", count*size>>20, (most-before)>>20)
	}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
