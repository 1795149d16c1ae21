package verify

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/candor-mcp/candor/ledger"
	"github.com/candor-mcp/candor/ledger/internal/format"
)

// Rules of this file: bytes that a crash can leave are not damage, and nothing else is accepted as such. A kill leaves a beginning of the next
// line. A power cut may also leave sectors of zeros in what was written last.

const sector = 512

// couldBeTorn reports whether bytes behind the last whole line can be what is left of the next one.
func (s *chainScan) couldBeTorn(tail []byte, offset int64) bool {
	if zeroed(tail, offset, true) {
		return true
	}
	tail = bytes.TrimRight(tail, "\x00") // of the last sector only the first bytes may be there
	if bytes.IndexByte(tail, 0) >= 0 {
		return false
	}
	head := fmt.Sprintf(`%s%s%s%d%s`, format.LineStart, s.report.Chain, format.LineSeq, s.seq+1, format.LineTime)
	after := fmt.Sprintf(`%s%s%s`, format.LinePrev, s.last, format.LineKind)
	if n := min(len(head), len(tail)); string(tail[:n]) != head[:n] {
		return false
	}
	if len(tail) > len(head)+len(format.TimeLayout) {
		rest := tail[len(head)+len(format.TimeLayout):]
		if n := min(len(after), len(rest)); string(rest[:n]) != after[:n] {
			return false
		}
	}
	return !holdsWholeLine(tail)
}

// holdsWholeLine reports whether a line ended inside the bytes and something else than a line feed follows it. A whole line at the very
// end lacks only its line feed.
func holdsWholeLine(tail []byte) bool {
	for from := 0; ; {
		i := bytes.Index(tail[from:], []byte(format.LineHash))
		if i < 0 {
			return false
		}
		end := from + i + format.LineTail
		if end < len(tail) && bytes.HasSuffix(tail[:end], []byte(format.LineEnd)) {
			if _, err := ledger.ParseLine(tail[:end]); err == nil {
				return true
			}
		}
		if end == len(tail) && bytes.HasSuffix(tail, []byte(format.LineEnd)) {
			_, err := ledger.ParseLine(tail)
			return err != nil // whole, but not what was written
		}
		from += i + 1
	}
}

// zeroed reports whether sectors of zeros stand in the bytes: from where the last write began or a border of a sector, to a border, or to the
// end if these are the last bytes of the file.
func zeroed(tail []byte, offset int64, last bool) bool {
	for i := 0; i < len(tail); {
		if tail[i] != 0 {
			i++
			continue
		}
		end := i
		for end < len(tail) && tail[end] == 0 {
			end++
		}
		starts := i == 0 || (offset+int64(i))%sector == 0
		ends := last && end == len(tail) || (offset+int64(end))%sector == 0
		if starts && ends {
			return true
		}
		i = end
	}
	return false
}

// debris is asked about a bad line: does it, with all that follows, look like what a power cut leaves of the last write? Then nothing
// behind it was ever acknowledged. A checkpoint that covers any of it says otherwise, which finish finds out.
func (s *chainScan) debris() (bool, error) {
	if s.closed || s.lines.Closed {
		return false, nil
	}
	if !zeroed(s.at.Bytes, s.at.Offset, false) {
		return false, nil
	}
	torn := int64(len(s.at.Bytes)) + 1
	for {
		line, err := s.lines.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil || line.File != s.at.File {
			return false, err
		}
		torn += int64(len(line.Bytes)) + 1
	}
	tail, _ := s.lines.Tail()
	s.report.Torn = torn + int64(len(tail))
	s.lines.DiscardTail() // all of it is accounted for
	return true, nil
}
