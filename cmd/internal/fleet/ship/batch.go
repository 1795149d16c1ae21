package ship

import (
	"slices"

	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/ledger"
)

// batch is the lines of a chain that are sent next.
type batch struct {
	store fleet.Store
	chain fleet.Chain
	after fleet.Head
	heads []fleet.Head // of each line
	lines [][]byte
	bytes int
}

func (b *batch) add(l *ledger.Line) {
	b.lines = append(b.lines, slices.Clone(l.Raw()))
	b.heads = append(b.heads, fleet.Head{Seq: l.Seq, Hash: l.Hash})
	b.bytes += len(l.Raw()) + 1
}

func (b *batch) full() bool { return len(b.lines) >= maxLines || b.bytes >= maxBytes }

// last returns the head after the batch.
func (b *batch) last() fleet.Head {
	if len(b.heads) == 0 {
		return b.after
	}
	return b.heads[len(b.heads)-1]
}

// drop removes the lines that the store has. It returns false if head is not that of one of them.
func (b *batch) drop(head fleet.Head) (bytes int, ok bool) {
	if head == b.after {
		return 0, true
	}
	at := slices.Index(b.heads, head)
	if at < 0 {
		return 0, false
	}
	for _, line := range b.lines[:at+1] {
		bytes += len(line) + 1
	}
	b.after, b.heads, b.lines, b.bytes = head, b.heads[at+1:], b.lines[at+1:], b.bytes-bytes
	return bytes, true
}
