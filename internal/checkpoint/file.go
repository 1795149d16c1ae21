package checkpoint

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/candor-mcp/candor/internal/segment"
	"github.com/candor-mcp/candor/internal/segment/format"
	"github.com/candor-mcp/candor/internal/storage"
)

// File is a witness copy: a file that checkpoints of many chains were appended to.
type File struct {
	Fsys   fs.FS
	Base   string
	Name   string        // as the operator named it
	Own    bool          // only this ledger uses it
	file   io.ReadCloser // kept open after Index, because the path may lead to another file later
	Blocks map[string]*span
}

// span is the range of the blocks of one chain.
type span struct {
	First, Last int64
	Newest      string // the text of the block that covers the most entries
	size        int64  // number of entries that Newest covers
}

// NewFile returns the witness copy with this name. It does not open the file.
func NewFile(name string) *File {
	return &File{Fsys: os.DirFS(filepath.Dir(name)), Base: filepath.Base(name), Name: name}
}

// SameFile reports whether two names lead to the same file.
func SameFile(a, b string) bool {
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}

// Index finds the blocks of each chain, so that the blocks of one chain can be read separately in little memory.
func (p *File) Index() (*Flaw, error) {
	file, err := storage.OpenAt(p.Fsys, p.Base, 0)
	if err != nil {
		return nil, fmt.Errorf("opening the witness copy %s: %w", p.Name, err)
	}
	p.file = file
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
		case IsTorn(text): // the remains of a crash; the name may be torn too
		case ok && format.IsChainName(chain):
			p.add(chain, text, offset)
		default:
			return &Flaw{Kind: BadSignature, Offset: offset, Why: "block without the name of a chain"}, nil
		}
	}
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

// From returns the checkpoints that begin at offset or later.
func (p *File) From(offset int64) (*Stream, error) {
	file, ok := p.file.(io.ReaderAt)
	if !ok {
		return nil, fmt.Errorf("reading %s: not seekable", p.Name)
	}
	notes := &Stream{Name: p.Name, lines: segment.NewLineBuffer(io.NewSectionReader(file, offset, math.MaxInt64-offset), segment.NoteBuffer)}
	notes.lines.Offset = offset
	return notes, nil
}

// Newest returns the newest block of each chain, in the order in which they were written.
func Newest(place string) ([]byte, error) {
	p := NewFile(place)
	flaw, err := p.Index()
	if err != nil {
		return nil, err
	}
	defer p.Close()
	if flaw != nil {
		return nil, fmt.Errorf("%s: byte %d: %s", place, flaw.Offset, flaw.Why)
	}
	var blocks []byte
	for _, at := range slices.SortedFunc(maps.Values(p.Blocks), func(a, b *span) int { return cmp.Compare(a.Last, b.Last) }) {
		blocks = append(append(blocks, at.Newest...), format.BlockEnd...)
	}
	return blocks, nil
}

// TrimTorn removes an incomplete block that a crashed writer left in a shared file before the block of another
// writer. A block that was written completely is not torn.
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

// zeros is the mark of sectors that a power cut lost from a text file.
const zeros = "\x00\x00"

// HasLostSectors reports whether a power cut has lost a part of a block. If it lost only the last byte, the block
// ends in a single zero, after which the next writer ended the line. No flipped bit turns the last byte of a block
// into a zero.
func HasLostSectors(text string) bool {
	return strings.Contains(text, zeros) || strings.HasSuffix(strings.TrimRight(text, "\n"), "\x00")
}

// IsTorn reports whether text is a prefix of a checkpoint. It must not mistake a changed checkpoint for a torn one,
// so everything after the five lines must be valid up to the end of the text.
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
