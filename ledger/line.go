package ledger

import (
	"bytes"
	"crypto/sha256"
	"strconv"
	"time"

	"github.com/candor-mcp/candor/internal/segment/format"
)

// Line is an entry as stored on the disk, of which only the head is decoded. It refers to the bytes it was parsed
// from, which must not change while the Line is used.
type Line struct {
	Seq  uint64
	Time time.Time
	Prev [sha256.Size]byte // hash of the previous entry
	Hash [sha256.Size]byte // hash of this entry, already checked
	Kind Kind

	chain []byte
	raw   []byte
}

// Chain returns the chain name in the line.
func (l *Line) Chain() string { return string(l.chain) }

// In reports whether the line names the given chain. It does not allocate.
func (l *Line) In(chain string) bool { return string(l.chain) == chain }

// Raw returns the bytes of the line without its line feed, which are the record in the tree.
func (l *Line) Raw() []byte { return l.raw }

// ParseLine parses one line, given without its line feed. It checks the format of all members before kind, that the
// line ends in a hash, and that the hash is that of the line's bytes. The remaining members are JSON, see
// [Line.Record]. ParseLine does not check links and numbers, which requires the previous line.
func ParseLine(b []byte) (Line, error) {
	l := Line{raw: b}
	body := len(b) - format.LineTail
	if body < 0 || !bytes.HasSuffix(b, []byte(format.LineEnd)) || string(b[body:body+len(format.LineHash)]) != format.LineHash {
		return l, format.ErrShape
	}
	if !format.ReadHex(l.Hash[:], b[body+len(format.LineHash):]) {
		return l, format.ErrShape
	}
	if err := l.parseHead(b[:body]); err != nil {
		return l, err
	}
	if sha256.Sum256(b[:body]) != l.Hash {
		return l, format.ErrHash
	}
	return l, nil
}

// parseHead parses the members before kind.
func (l *Line) parseHead(b []byte) error {
	p := headParser{rest: b}
	p.expect(format.LineStart)
	l.chain = p.until('"')
	p.expect(format.LineSeq)
	l.Seq = p.number()
	p.expect(format.LineTime)
	l.Time = p.time()
	p.expect(format.LinePrev)
	p.hex(l.Prev[:])
	p.expect(format.LineKind)
	l.Kind = p.kind()
	if p.bad || !format.IsChainName(l.chain) {
		return format.ErrShape
	}
	return nil
}

// headParser parses the fixed head of a line. After the first mismatch bad is true.
type headParser struct {
	rest []byte
	bad  bool
}

func (p *headParser) expect(text string) {
	if len(p.rest) < len(text) || string(p.rest[:len(text)]) != text {
		p.bad = true
		return
	}
	p.rest = p.rest[len(text):]
}

// until returns the bytes before the next c and leaves c in rest.
func (p *headParser) until(c byte) []byte {
	i := bytes.IndexByte(p.rest, c)
	if i < 0 {
		p.bad = true
		return nil
	}
	found := p.rest[:i]
	p.rest = p.rest[i:]
	return found
}

func (p *headParser) number() uint64 {
	digits := p.until(',')
	n, err := strconv.ParseUint(string(digits), 10, 64)
	p.bad = p.bad || err != nil || len(digits) > 18 || digits[0] == '0'
	return n
}

func (p *headParser) hex(dst []byte) {
	if !format.ReadHex(dst, p.rest) {
		p.bad = true
		return
	}
	p.rest = p.rest[2*len(dst):]
}

func (p *headParser) time() time.Time {
	if len(p.rest) < len(format.TimeLayout) {
		p.bad = true
		return time.Time{}
	}
	t, ok := format.ReadTime(p.rest[:len(format.TimeLayout)])
	p.bad = p.bad || !ok
	p.rest = p.rest[len(format.TimeLayout):]
	return t
}

func (p *headParser) kind() Kind {
	text := p.until('"')
	for _, k := range kinds {
		if string(text) == string(k) {
			return k
		}
	}
	p.bad = true
	return ""
}
