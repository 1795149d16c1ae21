// Package format defines the names and bytes that writers and readers of a ledger share; spec/ledger.md describes
// them.
package format

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Digest is a SHA-256 sum. Its text form is hex.
type Digest [sha256.Size]byte

// String returns the digest in lower-case hex.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// Genesis returns the value that the first entry of a chain holds as the hash of the previous entry.
func Genesis(chain string) Digest { return sha256.Sum256([]byte("candor ledger " + chain)) }

// Errors of a single line. A bad shape may be a torn write; a bad hash in a complete line means that a byte was
// changed.
var (
	ErrShape = errors.New("is not a whole line of this format")
	ErrHash  = errors.New("has a hash that does not match its bytes")
)

// The fixed parts of a line, in order.
const (
	LineStart = `{"v":1,"chain":"`
	LineSeq   = `","seq":`
	LineTime  = `,"time":"`
	LinePrev  = `","prev":"`
	LineKind  = `","kind":"`
	LineHash  = `,"hash":"`
	LineEnd   = `"}`
	LineTail  = len(LineHash) + 2*sha256.Size + len(LineEnd)
)

// MaxLine is the maximum size of a line with its line feed: three texts in which every byte is escaped, labels, and
// data. A reader may reject longer lines.
const MaxLine = 2 << 20

// ReadHex decodes lower-case hex. It rejects upper case, so that a hash has only one spelling.
func ReadHex(dst, src []byte) bool {
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

// TimeLayout has microseconds and a fixed length, so that times sort as text.
const TimeLayout = "2006-01-02T15:04:05.000000Z"

// FormatTime returns the wire form of an entry's time.
func FormatTime(t time.Time) string { return t.UTC().Format(TimeLayout) }

// ReadTime parses TimeLayout several times faster than package time does. It rejects text that [FormatTime] would not
// write.
func ReadTime(b []byte) (time.Time, bool) {
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

// LineError returns an error about a malformed line.
func LineError(segment string, seq uint64, err error) error {
	return fmt.Errorf("entry %d in %s %w", seq, segment, err)
}

// DecodeData decodes the data member of a line into v.
func DecodeData(line []byte, v any) error {
	var wrapper struct {
		Data json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(line, &wrapper); err != nil {
		return err
	}
	return json.Unmarshal(wrapper.Data, v)
}

// MustJSON encodes values whose encoding cannot fail: structs of strings and numbers.
func MustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		return []byte("{}")
	}
	return b
}
