package verify

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/candor-mcp/candor/internal/segment/format"
	"github.com/candor-mcp/candor/ledger"
)

// Rules of this file: bytes that a crash can leave are not damage, and all other bytes are. A kill leaves a prefix of
// the next line. A power cut may also leave sectors of zeros in the last write.

const sector = 512

// couldBeTorn reports whether the bytes after the last whole line can be the remains of the next one.
func (s *chainScan) couldBeTorn(tail []byte, offset int64) bool {
	if zeroed(tail, offset, true) {
		return true
	}
	tail = bytes.TrimRight(tail, "\x00") // the last sector may be only partly written
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

// holdsWholeLine reports whether the bytes contain a complete line that is followed by a byte other than a line feed.
// A complete line at the very end lacks only its line feed.
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
			return err != nil // complete, but not as it was written
		}
		from += i + 1
	}
}

// zeroed reports whether the bytes contain sectors of zeros. A run of zeros must begin at the start of the last write
// or at a sector boundary, and end at a sector boundary, or at the end of the file if last is true.
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

// debris reports whether a bad line and all that follows look like the remains of the last write after a power cut.
// If they do, none of it was ever acknowledged. If a checkpoint covers any of it, finish reports the damage.
func (s *chainScan) debris() (bool, error) {
	if s.closed || s.lines.Closed || s.v.entriesOnly {
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
	s.lines.DiscardTail() // all of it is counted as torn
	return true, nil
}
