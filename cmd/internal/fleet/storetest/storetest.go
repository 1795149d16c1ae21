// Package storetest is the conformance suite of [fleet.Store]. Every engine passes it.
package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
)

// Opened is an empty store that is ready for use, and ways to reach it again. The function that returns it also cleans up.
type Opened struct {
	// Store is one connection, with the rights of an operator.
	Store fleet.Store
	// Again opens another connection to the same store.
	Again func(t *testing.T) fleet.Store
	// Reopen ends the engine, if possible so that lines that are not durable are lost, starts it again and opens the store.
	Reopen func(t *testing.T) fleet.Store
	// Raw stores bytes at the end of a chain without the checks of Append, as a node with bad intentions can. It is nil if the engine
	// has no such way.
	Raw func(t *testing.T, chain fleet.Chain, line []byte)
	// SkipMemory leaves out the test of memory, for engines in the process of the test.
	SkipMemory bool
}

// Run runs the suite. Each test gets a store of its own from open.
func Run(t *testing.T, open func(t *testing.T) Opened) {
	t.Helper()
	for _, test := range []struct {
		name string
		run  func(t *testing.T, s *suite)
	}{
		{"KeepsHostileBytes", keepsHostileBytes}, {"Batches", keepsBatches},
		{"RefusesWrongHead", refusesWrongHead}, {"OneOfManyAppenders", oneOfManyAppenders},
		{"ContinuesAfterUnknownResult", continuesAfterUnknownResult},
		{"ListsChains", listsChains}, {"BeginsAfterRetention", beginsAfterRetention},
		{"LinesAfterPosition", linesAfterPosition}, {"LongChainUsesLittleMemory", longChainUsesLittleMemory},
		{"Removes", removes},
		{"Cancelled", cancelled}, {"SurvivesReopen", survivesReopen},
		{"RefusesNames", refusesNames}, {"RefusesLines", refusesLines}, {"KeepsRawLines", keepsRawLines},
		{"SaysWhatItGuarantees", saysWhatItGuarantees},
	} {
		t.Run(test.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute) // so that a hanging engine gets a name
			defer cancel()
			test.run(t, &suite{Opened: open(t), ctx: ctx})
		})
	}
}

type suite struct {
	Opened
	ctx context.Context //nolint:containedctx // of one test
}

func (s *suite) append(t *testing.T, chain fleet.Chain, after fleet.Head, lines [][]byte) fleet.Head {
	t.Helper()
	if err := s.Store.Append(s.ctx, chain, after, lines); err != nil {
		t.Fatalf("Append of %d lines to %s after entry %d: %v", len(lines), chain, after.Seq, err)
	}
	return HeadOf(t, lines[len(lines)-1])
}

func (s *suite) head(t *testing.T, store fleet.Store, chain fleet.Chain) fleet.Head {
	t.Helper()
	head, err := store.Head(s.ctx, chain)
	if err != nil {
		t.Fatalf("Head of %s: %v", chain, err)
	}
	return head
}

// read returns copies of the lines after a position, and their positions.
func (s *suite) read(t *testing.T, store fleet.Store, chain fleet.Chain, after uint64) (lines [][]byte, positions []uint64) {
	t.Helper()
	last := after
	for stored, err := range store.Lines(s.ctx, chain, after) {
		if err != nil {
			t.Fatalf("Lines of %s after %d: %v", chain, after, err)
		}
		if stored.Chain != chain {
			t.Fatalf("Lines of %s returned a line of %s", chain, stored.Chain)
		}
		if stored.Position <= last {
			t.Fatalf("Lines of %s: position %d follows %d", chain, stored.Position, last)
		}
		last = stored.Position
		lines, positions = append(lines, bytes.Clone(stored.Line)), append(positions, last)
	}
	return lines, positions
}

// wantLines compares a chain with the lines that it should have.
func (s *suite) wantLines(t *testing.T, store fleet.Store, chain fleet.Chain, want [][]byte) {
	t.Helper()
	got, _ := s.read(t, store, chain, 0)
	sameLines(t, chain, got, want)
	if head := s.head(t, store, chain); len(want) > 0 && head != HeadOf(t, want[len(want)-1]) {
		t.Errorf("Head of %s is entry %d with hash %x, want that of the last line", chain, head.Seq, head.Hash)
	}
}

func sameLines(t *testing.T, chain fleet.Chain, got, want [][]byte) {
	t.Helper()
	for i := range min(len(got), len(want)) {
		if !bytes.Equal(got[i], want[i]) {
			t.Fatalf("%s: line %d of %d differs:\n got %.300q\nwant %.300q", chain, i+1, len(want), got[i], want[i])
		}
	}
	if len(got) != len(want) {
		t.Fatalf("%s has %d lines, want %d", chain, len(got), len(want))
	}
}

// wantClass compares the class of an error of a store.
func wantClass(t *testing.T, what string, err error, want candor.Class) {
	t.Helper()
	var coded *candor.Error
	switch {
	case err == nil:
		t.Errorf("%s: no error, want one of class %s", what, want)
	case !errors.As(err, &coded):
		t.Errorf("%s: %q is not a candor error, want class %s", what, err, want)
	case coded.Class() != want:
		t.Errorf("%s: %q has class %s, want %s", what, err, coded.Class(), want)
	}
}

func wantConflict(t *testing.T, what string, err error, chain fleet.Chain, head fleet.Head) {
	t.Helper()
	var conflict *fleet.ConflictError
	if !errors.As(err, &conflict) {
		t.Fatalf("%s: %v, want a ConflictError", what, err)
	}
	if conflict.Chain != chain || conflict.Head != head {
		t.Errorf("%s: the conflict is about %s with entry %d, want %s with entry %d", what, conflict.Chain, conflict.Head.Seq, chain, head.Seq)
	}
}

func keepsHostileBytes(t *testing.T, s *suite) {
	chain := fleet.Chain{Node: "n", Name: "hostile"}
	all := make([]byte, 0, 255)
	for b := range 256 {
		if b != '\n' {
			all = append(all, byte(b))
		}
	}
	bodies := []string{
		"", string(all), "\x00", strings.Repeat("\x00", 4096), "\r", "\ufeff", "é 漢字 🎉 \u2028", "\xff\xfe\xc3\x28", `\u0000 \n \\ '; DROP TABLE lines; --`,
		"$1 %s {{.}} ${x}", "+OK\r -ERR\r MSG a.b 1 0\r", strings.Repeat("a", 200<<10), strings.Repeat("漢", 200<<10/3), strings.Repeat(" ", 1000),
	}
	var lines [][]byte
	head := fleet.Head{}
	for _, body := range bodies {
		line := NextLine(chain, head, []byte(body))
		head = s.append(t, chain, head, [][]byte{line})
		lines = append(lines, line)
	}
	s.wantLines(t, s.Store, chain, lines)
}

func keepsBatches(t *testing.T, s *suite) {
	chain := fleet.Chain{Node: "n", Name: "batches"}
	var want [][]byte
	head := fleet.Head{}
	for _, size := range []int{1, 2, 3, 10, 100, 256, 999, 1000} {
		lines := MakeLines(chain, head, size, 200)
		head = s.append(t, chain, head, lines)
		want = append(want, lines...)
	}
	s.wantLines(t, s.Store, chain, want)
}

func refusesWrongHead(t *testing.T, s *suite) {
	chain := fleet.Chain{Node: "n", Name: "c"}
	lines := MakeLines(chain, fleet.Head{}, 5, 50)
	head := s.append(t, chain, fleet.Head{}, lines)
	again := s.Again(t)
	s.append(t, fleet.Chain{Node: "n", Name: "other"}, fleet.Head{}, MakeLines(fleet.Chain{Node: "n", Name: "other"}, fleet.Head{}, 9, 50))

	forked := HeadOf(t, NextLine(chain, HeadOf(t, lines[3]), []byte("another entry 5")))
	for name, wrong := range map[string]fleet.Head{
		"none": {}, "older": HeadOf(t, lines[3]), "fork": forked, "newer": HeadOf(t, NextLine(chain, head, nil)), "number only": {Seq: 5},
	} {
		for _, count := range []int{1, 3} {
			err := again.Append(s.ctx, chain, wrong, MakeLines(chain, wrong, count, 60))
			wantConflict(t, fmt.Sprintf("Append of %d lines with the head %q", count, name), err, chain, head)
		}
	}
	empty := fleet.Chain{Node: "n", Name: "empty"}
	err := again.Append(s.ctx, empty, head, MakeLines(empty, head, 1, 60))
	wantConflict(t, "Append to an empty chain after entry 5", err, empty, fleet.Head{})
	s.wantLines(t, s.Store, chain, lines)
	s.wantLines(t, s.Store, empty, nil)

	more := MakeLines(chain, head, 2, 50)
	s.append(t, chain, head, more)
	s.wantLines(t, again, chain, append(lines, more...))
}

func listsChains(t *testing.T, s *suite) {
	if chains, err := s.Store.Chains(s.ctx); err != nil || len(chains) != 0 {
		t.Fatalf("Chains of an empty store: %v, %v", chains, err)
	}
	want := []fleet.Chain{
		{Node: "A", Name: "z"}, {Node: "a", Name: "1"}, {Node: "a", Name: "B"}, {Node: "a", Name: "b"}, {Node: "a-b", Name: "c"},
		{Node: "a_b", Name: "c"}, {Node: "b", Name: "candor-20261115T040506789Z-0123abcd"}, {Node: strings.Repeat("n", 64), Name: strings.Repeat("c", 100)},
	}
	for i, chain := range slices.Backward(want) {
		s.append(t, chain, fleet.Head{}, MakeLines(chain, fleet.Head{}, 1+i, 30))
	}
	slices.SortFunc(want, fleet.Chain.Compare)
	for _, store := range []fleet.Store{s.Store, s.Again(t)} {
		got, err := store.Chains(s.ctx)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("Chains: %v, %v\nwant %v", got, err, want)
		}
	}
	for _, chain := range want {
		if got, _ := s.read(t, s.Store, chain, 0); len(got) == 0 {
			t.Errorf("%s: no lines", chain)
		}
	}
}

// beginsAfterRetention appends a chain without its first entries, which the node had removed before it joined the fleet.
func beginsAfterRetention(t *testing.T, s *suite) {
	chain := fleet.Chain{Node: "n", Name: "c"}
	lines := MakeLines(chain, fleet.Head{}, 20, 100)
	head := s.append(t, chain, fleet.Head{}, lines[8:12])
	s.append(t, chain, head, lines[12:])
	s.wantLines(t, s.Store, chain, lines[8:])
}

func linesAfterPosition(t *testing.T, s *suite) {
	chain, other := fleet.Chain{Node: "n", Name: "a"}, fleet.Chain{Node: "m", Name: "a"}
	lines := MakeLines(chain, fleet.Head{}, 300, 100)
	between := MakeLines(other, fleet.Head{}, 3, 100)
	head := s.append(t, chain, fleet.Head{}, lines[:100])
	s.append(t, other, fleet.Head{}, between)
	s.append(t, chain, head, lines[100:])

	_, positions := s.read(t, s.Store, chain, 0)
	for _, i := range []int{0, 1, 98, 99, 100, 298, 299} {
		rest, _ := s.read(t, s.Store, chain, positions[i])
		sameLines(t, chain, rest, lines[i+1:])
	}
	more := MakeLines(chain, HeadOf(t, lines[299]), 2, 10)
	s.append(t, chain, HeadOf(t, lines[299]), more)
	rest, _ := s.read(t, s.Again(t), chain, positions[299])
	sameLines(t, chain, rest, more)
}

func removes(t *testing.T, s *suite) {
	chain, other := fleet.Chain{Node: "n", Name: "a"}, fleet.Chain{Node: "n", Name: "b"}
	lines, others := MakeLines(chain, fleet.Head{}, 50, 100), MakeLines(other, fleet.Head{}, 50, 100)
	s.append(t, chain, fleet.Head{}, lines)
	s.append(t, other, fleet.Head{}, others)
	_, positions := s.read(t, s.Store, chain, 0)
	removed := uint64(0)
	for _, through := range []uint64{0, 1, 20, 20, 5} {
		if err := s.Store.Remove(s.ctx, chain, through); err != nil {
			t.Fatalf("Remove through %d: %v", through, err)
		}
		removed = max(removed, through)
		s.wantLines(t, s.Store, chain, lines[removed:])
	}
	s.wantLines(t, s.Again(t), other, others)

	rest, _ := s.read(t, s.Store, chain, positions[29])
	sameLines(t, chain, rest, lines[30:])
	rest, _ = s.read(t, s.Store, chain, positions[4]) // of a line that was removed
	sameLines(t, chain, rest, lines[20:])
	more := MakeLines(chain, HeadOf(t, lines[49]), 3, 100)
	s.append(t, chain, HeadOf(t, lines[49]), more)
	s.wantLines(t, s.Store, chain, append(lines[20:], more...))
}

func survivesReopen(t *testing.T, s *suite) {
	chain, lines := Ledger(t, "web-1", 30)
	more := MakeLines(chain, HeadOf(t, lines[len(lines)-1]), 10, 1000)
	head := s.append(t, chain, fleet.Head{}, lines)
	reopened := s.Reopen(t)
	s.wantLines(t, reopened, chain, lines)
	if err := reopened.Append(s.ctx, chain, head, more); err != nil {
		t.Fatalf("Append after reopening: %v", err)
	}
	if err := reopened.Append(s.ctx, chain, head, more); err == nil {
		t.Error("a second Append with the same head succeeded after reopening")
	}
	s.wantLines(t, reopened, chain, append(lines, more...))
}

func keepsRawLines(t *testing.T, s *suite) {
	if s.Raw == nil {
		t.Log("does not apply: nothing but this program can write to the store")
		return
	}
	chain := fleet.Chain{Node: "n", Name: "c"}
	lines := MakeLines(chain, fleet.Head{}, 3, 100)
	s.append(t, chain, fleet.Head{}, lines)
	for _, raw := range [][]byte{lines[1], []byte("not an entry"), []byte("{}"), NextLine(fleet.Chain{Node: "n", Name: "other"}, fleet.Head{}, nil)} {
		s.Raw(t, chain, raw)
		lines = append(lines, raw)
	}
	got, _ := s.read(t, s.Store, chain, 0)
	sameLines(t, chain, got, lines)
	_, err := s.Store.Head(s.ctx, chain)
	wantClass(t, "Head of a chain that ends with the entry of another", err, candor.ClassCorrupt)
}

func saysWhatItGuarantees(t *testing.T, s *suite) {
	d, err := s.Store.Durability(s.ctx)
	if err != nil {
		t.Fatal(err)
	}
	if d.Quorum && (d.Replicas < 2 || !d.Synced) {
		t.Errorf("%+v claims a quorum", d)
	}
	if !d.Quorum && (d.Reason == "" || d.Change == "") {
		t.Errorf("%+v does not say why there is no quorum and what to change", d)
	}
	if text, err := s.Store.Grant("web-1"); err != nil || text == "" {
		t.Errorf("Grant: %q, %v", text, err)
	}
}
