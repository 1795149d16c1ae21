package ledger

import (
	"bytes"
	"crypto/sha256"
	"time"

	"github.com/candor-mcp/candor/ledger/internal/format"
)

// Line is an entry as it stands on the disk, looked at without decoding it. It shares the bytes it was parsed from: they must not
// change while it is used.
type Line struct {
	Seq  uint64
	Time time.Time
	Prev [sha256.Size]byte // hash of the entry before
	Hash [sha256.Size]byte // its own, already checked
	Kind Kind

	chain []byte
	raw   []byte
}

// Chain returns the name of the chain that the line says it belongs to.
func (l *Line) Chain() string { return string(l.chain) }

// In reports whether the line says that it belongs to that chain. It does not allocate.
func (l *Line) In(chain string) bool { return string(l.chain) == chain }

// Raw returns the bytes of the line without its line feed: the record that the tree is built over.
func (l *Line) Raw() []byte { return l.raw }

// ParseLine reads one line without its line feed. It checks the shape of all that stands before kind, that the line ends in its hash,
// and that this is the hash of its bytes; then the line is exactly what some writer wrote. The rest is JSON, see [Line.Record].
// Neither links nor numbers are compared: that takes the line before.
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

// parseHead reads the members that a chain is checked by.
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

// headParser goes through the fixed head of a line; after the first thing that is not as expected it is bad for good.
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

// until returns what stands before the byte c, which stays.
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
	if len(digits) == 0 || len(digits) > 18 || digits[0] == '0' {
		p.bad = true
		return 0
	}
	var n uint64
	for _, c := range digits {
		if c < '0' || c > '9' {
			p.bad = true
			return 0
		}
		n = n*10 + uint64(c-'0')
	}
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
	for _, k := range [...]Kind{KindFailure, KindSuccess, KindEnter, KindExit, KindReserve, KindComplete, KindAttempt,
		KindCheckpoint, KindRecovered, KindSetting} {
		if string(text) == string(k) {
			return k
		}
	}
	p.bad = true
	return ""
}
