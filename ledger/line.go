package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"
)

// Digest is a SHA-256 sum. Its text form is hex.
type Digest [sha256.Size]byte

// String returns the digest in lower-case hex.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// genesis is what the first entry of a chain has for the hash of the entry before.
func genesis(chain string) Digest { return sha256.Sum256([]byte("candor ledger " + chain)) }

// Line is an entry as it stands on the disk, looked at without decoding it. It shares the bytes it was parsed from: they must not
// change while it is used.
type Line struct {
	Seq  uint64
	Time time.Time
	Prev Digest // hash of the entry before
	Hash Digest // its own, already checked
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

// What can be wrong with the bytes of one line. A bad shape may be a torn write; a bad hash under a whole shape is a changed byte.
var (
	errShape = errors.New("is not a whole line of this format")
	errHash  = errors.New("has a hash that does not fit its bytes")
)

// The fixed parts of a line, in order.
const (
	lineStart = `{"v":1,"chain":"`
	lineSeq   = `","seq":`
	lineTime  = `,"time":"`
	linePrev  = `","prev":"`
	lineKind  = `","kind":"`
	lineHash  = `,"hash":"`
	lineEnd   = `"}`
	lineTail  = len(lineHash) + 2*sha256.Size + len(lineEnd)
)

// maxLine bounds a line, with its line feed: three texts that are all escapes, labels, and data. A reader may refuse more.
const maxLine = 2 << 20

// parseLine reads one line without its line feed. It checks the shape of all that stands before kind, that the line ends in its hash,
// and that this is the hash of its bytes; then the line is exactly what some writer wrote. The rest is JSON, see [Line.Record].
// Neither links nor numbers are compared: that takes the line before.
func parseLine(b []byte) (Line, error) {
	l := Line{raw: b}
	body := len(b) - lineTail
	if body < 0 || !bytes.HasSuffix(b, []byte(lineEnd)) || string(b[body:body+len(lineHash)]) != lineHash {
		return l, errShape
	}
	if !readHex(l.Hash[:], b[body+len(lineHash):]) {
		return l, errShape
	}
	if err := l.parseHead(b[:body]); err != nil {
		return l, err
	}
	if sha256.Sum256(b[:body]) != l.Hash {
		return l, errHash
	}
	return l, nil
}

// parseHead reads the members that a chain is checked by.
func (l *Line) parseHead(b []byte) error {
	p := headParser{rest: b}
	p.expect(lineStart)
	l.chain = p.until('"')
	p.expect(lineSeq)
	l.Seq = p.number()
	p.expect(lineTime)
	l.Time = p.time()
	p.expect(linePrev)
	p.hex(l.Prev[:])
	p.expect(lineKind)
	l.Kind = p.kind()
	if p.bad || !isChainName(l.chain) {
		return errShape
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
	if !readHex(dst, p.rest) {
		p.bad = true
		return
	}
	p.rest = p.rest[2*len(dst):]
}

func (p *headParser) time() time.Time {
	if len(p.rest) < len(timeLayout) {
		p.bad = true
		return time.Time{}
	}
	t, ok := readTime(p.rest[:len(timeLayout)])
	p.bad = p.bad || !ok
	p.rest = p.rest[len(timeLayout):]
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

// readHex decodes lower-case hex; the format has only one spelling of a hash.
func readHex(dst, src []byte) bool {
	if len(src) < 2*len(dst) {
		return false
	}
	for i := range dst {
		high, low := hexDigit[src[2*i]], hexDigit[src[2*i+1]]
		if high == 0 || low == 0 {
			return false
		}
		dst[i] = (high-1)<<4 | (low - 1)
	}
	return true
}

// hexDigit holds the value of each lower-case hex digit, plus one.
var hexDigit = func() (t [256]byte) {
	for i, c := range []byte("0123456789abcdef") {
		t[c] = byte(i) + 1
	}
	return t
}()

// readTime reads timeLayout, several times faster than the package time does, and refuses what that would not have written.
func readTime(b []byte) (time.Time, bool) {
	var n [7]int
	for i, f := range [...][2]int{{0, 4}, {5, 7}, {8, 10}, {11, 13}, {14, 16}, {17, 19}, {20, 26}} {
		for _, c := range b[f[0]:f[1]] {
			if c < '0' || c > '9' {
				return time.Time{}, false
			}
			n[i] = n[i]*10 + int(c-'0')
		}
	}
	if b[4] != '-' || b[7] != '-' || b[10] != 'T' || b[13] != ':' || b[16] != ':' || b[19] != '.' || b[26] != 'Z' {
		return time.Time{}, false
	}
	t := time.Date(n[0], time.Month(n[1]), n[2], n[3], n[4], n[5], n[6]*1000, time.UTC)
	ok := t.Month() == time.Month(n[1]) && t.Day() == n[2] && t.Hour() == n[3] && t.Minute() == n[4] && t.Second() == n[5]
	return t, ok
}

// isChainName reports whether b can be the name of a chain: letters, digits and hyphens, and not too long.
func isChainName[T string | []byte](b T) bool {
	if len(b) == 0 || len(b) > maxChainName {
		return false
	}
	for i := range len(b) {
		c := b[i]
		if c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return true
}

// maxChainName leaves room for an instance of 64 bytes, the start and the random part.
const maxChainName = 100

// lineError names a line that is not as it should be.
func lineError(segment string, seq uint64, err error) error {
	return fmt.Errorf("entry %d in %s %w", seq, segment, err)
}
