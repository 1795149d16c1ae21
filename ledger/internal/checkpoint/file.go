package checkpoint

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/candor-mcp/candor/ledger/internal/format"
	"github.com/candor-mcp/candor/ledger/internal/segment"
	"github.com/candor-mcp/candor/ledger/internal/storage"
)

// File is a second place: a file that checkpoints of many chains were appended to.
type File struct {
	Fsys   fs.FS
	Base   string
	Name   string        // as the operator named it
	Own    bool          // it is of this ledger alone
	file   io.ReadCloser // open from index on: the path may lead to another file later
	Blocks map[string]*span
}

// span is where the blocks of one chain stand.
type span struct {
	First, Last int64
	Newest      string // the text of the one that covers most
	size        int64  // what that covers
}

// NewFile returns the checkpoints in the file of this name.
func NewFile(name string) *File {
	return &File{Fsys: os.DirFS(filepath.Dir(name)), Base: filepath.Base(name), Name: name}
}

// SameFile reports whether two names lead to one file.
func SameFile(a, b string) bool {
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}

// Index finds where each chain's blocks stand, so that each can be read by itself in little memory.
func (p *File) Index() (*Flaw, error) {
	info, err := fs.Stat(p.Fsys, p.Base)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: %w", p.Name, storage.ErrNotRegular) // reading a pipe could wait for ever
	}
	if err != nil {
		return nil, fmt.Errorf("opening the witness copy: %w", err)
	}
	if err := p.open(); err != nil {
		return nil, err
	}
	notes := &Stream{lines: segment.NewLineBuffer(p.file, segment.NoteBuffer), Name: p.Name}
	p.Blocks = map[string]*span{}
	for {
		text, offset, whole, err := notes.Next()
		if errors.Is(err, io.EOF) {
			return nil, nil
		}
		if errors.Is(err, segment.ErrCorrupt) {
			return &Flaw{Kind: BadSignature, Offset: offset, Why: err.Error()}, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", p.Name, err)
		}
		if HasLostSectors(text) {
			notes.Accept()
			continue
		}
		text = TrimTorn(text)
		origin, _, _ := strings.Cut(text, "\n")
		chain, ok := strings.CutPrefix(origin, format.Origin)
		if !whole {
			notes.Accept()
		}
		switch {
		case IsTorn(text): // what a crash left; the name may be torn too
		case ok && format.IsChainName(chain):
			p.add(chain, text, offset)
		default:
			return &Flaw{Kind: BadSignature, Offset: offset, Why: "block without the name of a chain"}, nil
		}
	}
}

// open opens the file for index and for every witness.
func (p *File) open() error {
	file, err := segment.OpenFile(p.Fsys, p.Base, false)
	if err != nil {
		return fmt.Errorf("opening the witness copy: %w", err)
	}
	p.file = file
	return nil
}

// Close closes the file if it is open.
func (p *File) Close() {
	if p.file != nil {
		_ = p.file.Close() // it was only read
	}
}

func (p *File) add(chain, text string, offset int64) {
	at := p.Blocks[chain]
	if at == nil {
		at = &span{First: offset}
		p.Blocks[chain] = at
	}
	at.Last = offset
	if said, err := ReadUnsigned(text); err != nil || said.Size >= at.size {
		at.Newest, at.size = text, said.Size
	}
}

// From returns the checkpoints from an offset on.
func (p *File) From(offset int64) (*Stream, error) {
	file, ok := p.file.(io.ReaderAt)
	if !ok {
		return nil, fmt.Errorf("reading %s: not seekable", p.Name)
	}
	notes := &Stream{Name: p.Name, lines: segment.NewLineBuffer(io.NewSectionReader(file, offset, math.MaxInt64-offset), segment.NoteBuffer)}
	notes.lines.Offset = offset
	return notes, nil
}

// Newest returns the newest block of each chain that keep wants, in the order in which they were written.
func Newest(place string, keep func(chain string) bool) ([]byte, error) {
	p := NewFile(place)
	flaw, err := p.Index()
	if err != nil {
		return nil, err
	}
	defer p.Close()
	if flaw != nil {
		return nil, fmt.Errorf("%s: byte %d: %s", place, flaw.Offset, flaw.Why)
	}
	var kept []*span
	for chain, at := range p.Blocks {
		if keep(chain) {
			kept = append(kept, at)
		}
	}
	slices.SortFunc(kept, func(a, b *span) int { return cmp.Compare(a.Last, b.Last) })
	var blocks []byte
	for _, at := range kept {
		blocks = append(append(blocks, at.Newest...), format.BlockEnd...)
	}
	return blocks, nil
}

// TrimTorn drops half a block that a writer left in a shared place when it died, and which another writer's block then followed. A
// block that was written to its end was not torn.
func TrimTorn(text string) string {
	i := strings.LastIndex(text, format.Origin)
	if i <= 0 {
		return text
	}
	if IsTorn(text[:i]) {
		return text[i:]
	}
	return text
}

// zeros in a file of text are sectors that a power cut has lost.
const zeros = "\x00\x00"

// HasLostSectors reports whether a power cut has taken a part of a block. Where it took only the last byte, one zero stands there, and the next
// writer has ended the line behind it; no flipped bit makes a zero of what a block ends with.
func HasLostSectors(text string) bool {
	return strings.Contains(text, zeros) || strings.HasSuffix(strings.TrimRight(text, "\n"), "\x00")
}

// IsTorn reports whether a text is the beginning of a checkpoint that was not written to its end. It must not take a changed one for a
// torn one: behind the five lines everything is as it should be, up to where it stops.
func IsTorn(text string) bool {
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
