package ledger

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"
	"strings"

	"golang.org/x/mod/sumdb/note"
)

// witness is one place that holds signed checkpoints of a chain: the chain's own file, or a second place that many chains share.
type witness struct {
	notes  *noteStream
	keys   note.Verifiers
	chain  string
	shared bool
	until  int64      // in a shared place, where the chain's last block begins
	due    *statement // read and not compared yet
	recent []string   // texts of the last few that were compared
	count  int
	debris bool // a power cut left zeros between the blocks
}

// look returns the next checkpoint that was not compared yet, or nil.
func (w *witness) look() (*statement, *Harm, error) {
	for w.due == nil {
		text, offset, whole, err := w.notes.next()
		switch {
		case errors.Is(err, io.EOF):
			return nil, nil, nil
		case errors.Is(err, errCorrupt):
			return nil, w.harm(HarmBadSignature, offset, err.Error()), nil
		case err != nil:
			return nil, nil, fmt.Errorf("reading checkpoints in %s: %w", w.notes.name, err)
		}
		if hasLost(text) {
			w.debris = true
			w.notes.accept()
			continue
		}
		if w.shared {
			if w.until > 0 && offset > w.until {
				return nil, nil, nil
			}
			if text = untorn(text); !strings.HasPrefix(text, originPrefix+w.chain+"\n") {
				w.notes.accept()
				continue
			}
		}
		if w.shared && tornNote(text) {
			w.notes.accept()
			continue
		}
		harm, stop := w.read(text, offset, whole)
		if harm != nil || stop {
			return nil, harm, nil
		}
	}
	return w.due, nil, nil
}

// read makes a block the one that is due. stop says that it is only half a block, at the end of the file.
func (w *witness) read(text string, offset int64, whole bool) (harm *Harm, stop bool) {
	s, flaw := readStatement(text, w.keys)
	if flaw != nil && !whole && tornNote(text) {
		return nil, true
	}
	if flaw != nil {
		return w.harm(flaw.kind, offset, "a checkpoint cannot be believed: "+flaw.why), false
	}
	if !whole {
		w.notes.accept()
	}
	s.file, s.offset = w.notes.name, offset
	if s.chain != w.chain {
		return w.harm(HarmWrongChain, offset, "a checkpoint of chain "+s.chain+" stands here"), false
	}
	w.due = &s
	return nil, false
}

// done marks the checkpoint that was due as compared.
func (w *witness) done() {
	w.count++
	if len(w.recent) == 16 {
		w.recent = w.recent[1:]
	}
	w.recent = append(w.recent, w.due.text)
	w.due = nil
}

// holds reports whether a text is among the last that were compared.
func (w *witness) holds(text string) bool { return slices.Contains(w.recent, text) }

func (w *witness) harm(kind HarmKind, offset int64, text string) *Harm {
	return &Harm{Kind: kind, Chain: w.chain, File: w.notes.name, Offset: offset, Text: text}
}

// untorn drops half a block that a writer left in a shared place when it died, and which another writer's block then followed. A
// block that was written to its end was not torn.
func untorn(text string) string {
	i := strings.LastIndex(text, originPrefix)
	if i <= 0 {
		return text
	}
	if tornNote(text[:i]) {
		return text[i:]
	}
	return text
}

// zeros in a file of text are sectors that a power cut has lost.
const zeros = "\x00\x00"

// hasLost reports whether a power cut has taken a part of a block. Where it took only the last byte, one zero stands there, and the next
// writer has ended the line behind it; no flipped bit makes a zero of what a block ends with.
func hasLost(text string) bool {
	return strings.Contains(text, zeros) || strings.HasSuffix(strings.TrimRight(text, "\n"), "\x00")
}

// tornNote reports whether a text is the beginning of a checkpoint that was not written to its end. It must not take a changed one for a
// torn one: behind the five lines everything is as it should be, up to where it stops.
func tornNote(text string) bool {
	text = strings.TrimSuffix(text, "\n") // the next writer may have ended the line
	lines := strings.SplitAfterN(text, "\n", 6)
	if len(lines) < 6 {
		return true
	}
	rest, begun := strings.CutPrefix(lines[5], "\n— ")
	if !begun {
		return strings.HasPrefix("\n— ", lines[5])
	}
	_, digits, named := strings.Cut(rest, " ")
	if !named {
		digits = rest
	}
	return len(digits) < signatureDigits && !strings.Contains(digits, "\n")
}

// signatureDigits is the length of a signature in base64: four bytes of key hash, 64 of Ed25519.
const signatureDigits = 92

// witnessFile is a second place: a file that checkpoints of many chains were appended to.
type witnessFile struct {
	fsys   fs.FS
	base   string
	name   string        // as the operator named it
	own    bool          // it is of this ledger alone
	file   io.ReadCloser // open from index on: the path may lead to another file later
	blocks map[string]*span
}

// span is where the blocks of one chain stand.
type span struct {
	first, last int64
	newest      string // the text of the one that covers most
	size        int64  // what that covers
}

// index finds where each chain's blocks stand, so that each can be read by itself in little memory.
func (p *witnessFile) index() (*Harm, error) {
	info, err := fs.Stat(p.fsys, p.base)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: %w", p.name, errNotRegular) // reading a pipe could wait for ever
	}
	if err != nil {
		return nil, fmt.Errorf("opening the second place: %w", err)
	}
	if err := p.open(); err != nil {
		return nil, err
	}
	notes := &noteStream{lines: newLineBuffer(p.file, noteBuffer), name: p.name}
	p.blocks = map[string]*span{}
	for {
		text, offset, whole, err := notes.next()
		if errors.Is(err, io.EOF) {
			return nil, nil
		}
		if errors.Is(err, errCorrupt) {
			return &Harm{Kind: HarmBadSignature, File: p.name, Offset: offset, Text: err.Error()}, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", p.name, err)
		}
		if hasLost(text) {
			notes.accept()
			continue
		}
		text = untorn(text)
		origin, _, _ := strings.Cut(text, "\n")
		chain, ok := strings.CutPrefix(origin, originPrefix)
		if !whole {
			notes.accept()
		}
		switch {
		case tornNote(text): // what a crash left; the name may be torn too
		case ok && isChainName(chain):
			p.add(chain, text, offset)
		default:
			return &Harm{Kind: HarmBadSignature, File: p.name, Offset: offset, Text: "a block names no chain"}, nil
		}
	}
}

// open opens the file for index and for every witness.
func (p *witnessFile) open() error {
	file, err := openSegment(p.fsys, p.base, false)
	if err != nil {
		return fmt.Errorf("opening the second place: %w", err)
	}
	p.file = file
	return nil
}

func (p *witnessFile) close() {
	if p.file != nil {
		_ = p.file.Close() // it was only read
	}
}

func (p *witnessFile) add(chain, text string, offset int64) {
	at := p.blocks[chain]
	if at == nil {
		at = &span{first: offset}
		p.blocks[chain] = at
	}
	at.last = offset
	if said, err := unsignedStatement(text); err != nil || said.size >= at.size {
		at.newest, at.size = text, said.size
	}
}

// witness opens the place for one chain, or returns nil if it says nothing about it.
func (p *witnessFile) witness(chain string, keys note.Verifiers) (*witness, error) {
	at := p.blocks[chain]
	if at == nil {
		return nil, nil
	}
	notes := &noteStream{name: p.name}
	if file, ok := p.file.(io.ReaderAt); ok {
		notes.lines = newLineBuffer(io.NewSectionReader(file, at.first, math.MaxInt64-at.first), noteBuffer)
		notes.lines.offset = at.first
	} else {
		return nil, fmt.Errorf("reading %s: it cannot be read from the middle", p.name)
	}
	return &witness{notes: notes, keys: keys, chain: chain, shared: true, until: at.last}, nil
}
