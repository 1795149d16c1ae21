package verify

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"github.com/candor-mcp/candor/internal/checkpoint"
	"github.com/candor-mcp/candor/internal/segment"
	"github.com/candor-mcp/candor/internal/segment/format"
)

// witness is a file with signed checkpoints of a chain: the chain's own file, or a witness copy that many chains
// share.
type witness struct {
	notes  *checkpoint.Stream
	keys   note.Verifiers
	chain  string
	shared bool
	until  int64                 // in a shared file, the offset of the chain's last block
	due    *checkpoint.Statement // read but not compared yet
	recent []string              // texts of the last few that were compared
	count  int
	debris bool // a power cut left zeros between the blocks
}

// look returns the next checkpoint that was not compared yet, or nil.
func (w *witness) look() (*checkpoint.Statement, *Damage, error) {
	for w.due == nil {
		text, offset, whole, err := w.notes.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil, nil, nil
		case errors.Is(err, segment.ErrCorrupt):
			return nil, w.damage(kindBadSignature, offset, err.Error()), nil
		case err != nil:
			return nil, nil, fmt.Errorf("reading checkpoints in %s: %w", w.notes.Name, err)
		}
		if checkpoint.HasLostSectors(text) {
			w.debris = true
			w.notes.Accept()
			continue
		}
		if w.shared {
			if w.until > 0 && offset > w.until {
				return nil, nil, nil
			}
			if text = checkpoint.TrimTorn(text); !strings.HasPrefix(text, format.Origin+w.chain+"\n") {
				w.notes.Accept()
				continue
			}
		}
		if w.shared && checkpoint.IsTorn(text) {
			w.notes.Accept()
			continue
		}
		damage, stop := w.read(text, offset, whole)
		if damage != nil || stop {
			return nil, damage, nil
		}
	}
	return w.due, nil, nil
}

// read parses a block and makes it due. stop is true if the block is incomplete at the end of the file.
func (w *witness) read(text string, offset int64, whole bool) (damage *Damage, stop bool) {
	s, flaw := checkpoint.Read(text, w.keys)
	if flaw != nil && !whole && checkpoint.IsTorn(text) {
		return nil, true
	}
	if flaw != nil {
		return w.damage(flaw.Kind, offset, "invalid checkpoint: "+flaw.Why), false
	}
	if !whole {
		w.notes.Accept()
	}
	s.File, s.Offset = w.notes.Name, offset
	if s.Chain != w.chain {
		return w.damage(kindWrongChain, offset, "a checkpoint of chain "+s.Chain+" in the wrong file"), false
	}
	w.due = &s
	return nil, false
}

// done marks the due checkpoint as compared.
func (w *witness) done() {
	w.count++
	if len(w.recent) == 16 {
		w.recent = w.recent[1:]
	}
	w.recent = append(w.recent, w.due.Text)
	w.due = nil
}

// holds reports whether a text is among the last that were compared.
func (w *witness) holds(text string) bool { return slices.Contains(w.recent, text) }

func (w *witness) damage(kind string, offset int64, text string) *Damage {
	return &Damage{Kind: kind, Chain: w.chain, File: w.notes.Name, Offset: offset, Text: text}
}

// most reads the checkpoints of a witness up to the first invalid one, and returns the largest size.
func (w *witness) most() (size uint64, err error) {
	defer w.notes.Close() //nolint:errcheck // it was only read
	for {
		due, damage, err := w.look()
		if err != nil || damage != nil || due == nil {
			return size, err
		}
		size = max(size, uint64(due.Size)) //nolint:gosec // it was read as a size
		w.done()
	}
}

// witnessIn opens a witness copy for one chain, or returns nil if it has no checkpoints of the chain.
func witnessIn(p *checkpoint.File, chain string, keys note.Verifiers) (*witness, error) {
	at := p.Blocks[chain]
	if at == nil {
		return nil, nil
	}
	notes, err := p.From(at.First)
	if err != nil {
		return nil, err
	}
	return &witness{notes: notes, keys: keys, chain: chain, shared: true, until: at.Last}, nil
}
