package framing

import (
	"bytes"
	"errors"
	"math"
	"strconv"

	"github.com/candor-mcp/candor/internal/wireflaw"
)

// Event is one event of an event stream. Slices that a reader returned are valid
// until the next call of [EventReader.Next].
type Event struct {
	// Raw is the event as received, with comments, unknown fields and the final blank line. It is nil if the event is too large.
	Raw []byte
	// Size is the number of bytes of the event in the stream.
	Size int64

	// Data is the content of the data lines, joined by LF. HasData is true if there was such a line: an
	// event without one is not dispatched.
	Data    []byte
	HasData bool
	// Type is the event field, empty for the default type "message".
	Type []byte
	// ID is the id field of this event. HasID distinguishes an empty id, which resets the last id, from a missing one.
	ID    []byte
	HasID bool
	// Retry is the reconnection time in milliseconds, if HasRetry.
	Retry    int64
	HasRetry bool

	// Flaw is wireflaw.None, or wireflaw.TooLarge for an event longer than Limits.MaxBytes.
	Flaw wireflaw.Flaw
	// Head is the start of the data and Tail are the last 256 bytes of an event that is too
	// large, for [PeekID].
	Head, Tail []byte
	// Unended means that the stream ended before the event did. By the standard it must not be
	// dispatched; what could be read of it is evidence only.
	Unended bool

	lead int // bytes of Raw before its first line
}

// ErrBadField means that a type or id holds a line end or NUL.
var ErrBadField = errors.New("an event's type or id holds a line end or NUL")

// parse reads the fields of the lines in b. The data of several lines is appended to join, which
// is returned.
func (e *Event) parse(b, join []byte) []byte {
	lines := 0
	for len(b) > 0 {
		line, end := cutLine(b)
		b = b[end:]
		name, value := cutField(line)
		if string(name) != "data" {
			e.setField(name, value)
			continue
		}
		switch lines++; lines {
		case 1:
			e.Data = value
		case 2:
			join = append(append(append(join, e.Data...), '\n'), value...)
		default:
			join = append(append(join, '\n'), value...)
		}
	}
	if lines > 1 {
		e.Data = join
	}
	e.HasData = lines > 0
	return join
}

// setField follows the standard: the last of equal fields wins, an id with NUL and a retry that
// is not all digits are ignored.
func (e *Event) setField(name, value []byte) {
	switch string(name) {
	case "event":
		e.Type = value
	case "id":
		if bytes.IndexByte(value, 0) < 0 {
			e.ID, e.HasID = value, true
		}
	case "retry":
		if n, ok := allDigits(value); ok {
			e.Retry, e.HasRetry = n, true
		}
	}
}

func allDigits(b []byte) (int64, bool) {
	n, err := strconv.ParseUint(string(b), 10, 64)                        // refuses signs, spaces and the empty string
	return int64(min(n, math.MaxInt64)), err == nil && n <= math.MaxInt64 //nolint:gosec // cut to fit
}

// cutLine returns the first line of b without its line end, and the index after it.
func cutLine(b []byte) (line []byte, end int) {
	i := lineEndAt(b, 0)
	end = min(i+1, len(b))
	if i+1 < len(b) && b[i] == '\r' && b[i+1] == '\n' {
		end = i + 2
	}
	return b[:i:i], end
}

// cutField splits a line at its first colon and drops one space after it. The name of a comment is empty.
func cutField(line []byte) (name, value []byte) {
	name, value, _ = bytes.Cut(line, []byte(":"))
	return name, bytes.TrimPrefix(value, []byte(" "))
}

// AppendWithData appends the event with other data to dst: the new data lines replace the
// old ones at the first of them, and every other byte of Raw is kept. Without Raw it is [AppendEvent]. Line
// ends in data begin a new data line, so that a reader sees each of them as LF.
func (e *Event) AppendWithData(dst, data []byte) ([]byte, error) {
	if e.Raw == nil {
		with := *e
		with.Data, with.HasData = data, true
		return AppendEvent(dst, with)
	}
	dst = append(dst, e.Raw[:e.lead]...)
	rest := e.Raw[e.lead:]
	opening, _ := cutLine(rest)
	lineEnd := endOf(rest[len(opening):])
	done := false
	for len(rest) > 0 {
		line, end := cutLine(rest)
		name, _ := cutField(line)
		isData := string(name) == "data"
		if !done && (isData || len(line) == 0) {
			dst = appendData(dst, data, lineEnd)
			done = true
		}
		if !isData {
			dst = append(dst, rest[:end]...)
		}
		rest = rest[end:]
	}
	if !done { // an unended event without data: terminate its last line
		dst = appendData(append(dst, lineEnd...), data, lineEnd)
	}
	return dst, nil
}

// endOf returns the line end at the start of b, or else LF.
func endOf(b []byte) string {
	switch {
	case bytes.HasPrefix(b, []byte("\r\n")):
		return "\r\n"
	case bytes.HasPrefix(b, []byte("\r")):
		return "\r"
	default:
		return "\n"
	}
}

func appendData(dst, data []byte, lineEnd string) []byte {
	for {
		line, end := cutLine(data)
		dst = append(append(append(dst, "data: "...), line...), lineEnd...)
		if end == len(line) {
			return dst
		}
		data = data[end:]
	}
}

// AppendEvent appends an event made of the fields Type, ID, Retry and Data to dst, with LF as line
// end; Raw is ignored. The error is [ErrBadField], and dst is then unchanged.
func AppendEvent(dst []byte, e Event) ([]byte, error) {
	if bytes.ContainsAny(e.Type, "\r\n") || bytes.ContainsAny(e.ID, "\r\n\x00") {
		return dst, ErrBadField
	}
	if len(e.Type) > 0 {
		dst = append(append(append(dst, "event: "...), e.Type...), '\n')
	}
	if e.HasID || len(e.ID) > 0 {
		dst = append(append(append(dst, "id: "...), e.ID...), '\n')
	}
	if e.HasRetry && e.Retry >= 0 {
		dst = append(strconv.AppendInt(append(dst, "retry: "...), e.Retry, 10), '\n')
	}
	if e.HasData || len(e.Data) > 0 {
		dst = appendData(dst, e.Data, "\n")
	}
	return append(dst, '\n'), nil
}
