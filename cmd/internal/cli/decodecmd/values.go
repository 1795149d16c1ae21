package decodecmd

import (
	"bytes"
	"errors"
	"io"

	"github.com/candor-mcp/candor/internal/wireflaw"
	"github.com/candor-mcp/candor/wire"
)

// value is one JSON value of a stream, or an error.
type value struct {
	raw  []byte
	json wire.Value
	line int // first line
	err  error
}

// values reads a stream of JSON values: one per line, several on a line, or one that spans lines. After invalid JSON it
// continues where the next value may begin.
type values struct {
	lines   *lines
	pending []line // lines read but not used
	end     error  // error of the reader
}

func newValues(r io.Reader) *values { return &values{lines: newLines(r)} }

// next returns the next value, valid or not, or the error of the reader.
func (v *values) next() (value, error) {
	first, ok := v.take()
	if !ok {
		return value{}, v.end
	}
	return v.gather(first), nil
}

// take returns the next line, pending ones first.
func (v *values) take() (line, bool) {
	if len(v.pending) > 0 {
		l := v.pending[0]
		v.pending = v.pending[1:]
		return l, true
	}
	if v.end != nil {
		return line{}, false
	}
	l, err := v.lines.next()
	if err != nil {
		v.end = err
		return line{}, false
	}
	l.bytes = bytes.Clone(l.bytes) // it may become pending
	return l, true
}

// gather adds lines to the first one until they are one value or cannot become one.
func (v *values) gather(first line) value {
	if first.tooLong {
		return value{raw: first.bytes, line: first.number, err: wire.Malformation{Flaw: wireflaw.TooLarge, Offset: maxLine}}
	}
	used := []line{first}
	text := bytes.Clone(first.bytes)
	var open nesting
	open.scan(text)
	for {
		// Parse the first line, when all brackets are closed, and when a line looks like the beginning of another value.
		if last := used[len(used)-1]; open.closed() || len(used) == 1 || begins(last.bytes) {
			if got, done := v.try(text, used); done {
				return got
			}
		}
		more, ok := v.take()
		if ok && (more.tooLong || len(text)+len(more.bytes) > maxLine) {
			v.pending = append([]line{more}, v.pending...)
			ok = false
		}
		if !ok {
			return v.giveUp(used)
		}
		used = append(used, more)
		text = append(append(text, '\n'), more.bytes...)
		open.scan(more.bytes)
	}
}

// try parses the lines. done is false if the value may continue.
func (v *values) try(text []byte, used []line) (got value, done bool) {
	json, err := Parse(text)
	var flaw wire.Malformation
	switch {
	case err == nil:
		return value{raw: text, json: json, line: used[0].number}, true
	case errors.As(err, &flaw) && flaw.Flaw == wireflaw.Truncated:
		return value{}, false
	case errors.As(err, &flaw) && flaw.Flaw == wireflaw.TrailingData:
		return v.split(text, used, flaw.Offset), true
	default:
		return v.giveUp(used), true
	}
}

// split returns the value before the offset and makes the remainder pending.
func (v *values) split(text []byte, used []line, at int) value {
	json, err := Parse(text[:at])
	if err != nil {
		return v.giveUp(used)
	}
	last, inside := locate(used, at)
	rest := line{bytes: last.bytes[inside:], number: last.number}
	v.pending = append([]line{rest}, v.pending...)
	return value{raw: text[:at], json: json, line: used[0].number}
}

// giveUp returns an error value for the lines before the next one that looks like the beginning of a value, and makes the others
// pending. Its line number is where the text stops being JSON.
func (v *values) giveUp(used []line) value {
	for i, l := range used[1:] {
		if begins(l.bytes) {
			v.pending = append(append([]line(nil), used[1+i:]...), v.pending...)
			used = used[:1+i]
			break
		}
	}
	var text []byte
	for _, l := range used {
		text = append(append(text, l.bytes...), '\n')
	}
	_, err := Parse(text[:len(text)-1])
	got := value{raw: text, line: used[0].number, err: err}
	var flaw wire.Malformation
	if errors.As(err, &flaw) && flaw.Flaw != wireflaw.Truncated {
		at, inside := locate(used, flaw.Offset)
		got.line, got.err = at.number, wire.Malformation{Flaw: flaw.Flaw, Offset: inside}
	}
	return got
}

// locate returns the line at an offset into the joined lines.
func locate(used []line, offset int) (at line, inside int) {
	for _, l := range used[:len(used)-1] {
		if offset <= len(l.bytes) {
			return l, offset
		}
		offset -= len(l.bytes) + 1
	}
	last := used[len(used)-1]
	return last, max(0, min(offset, len(last.bytes)))
}

// begins reports whether a line looks like the beginning of a value: a bracket that is not indented.
func begins(text []byte) bool { return len(text) > 0 && (text[0] == '{' || text[0] == '[') }

// Parse parses a JSON value. Lone surrogates are allowed.
func Parse(text []byte) (wire.Value, error) {
	return wire.ParseValue(text, wire.Limits{AllowLoneSurrogates: true})
}

// nesting counts open brackets and quotes, so that a value of many lines is not parsed once per line.
type nesting struct {
	depth   int
	quoted  bool
	escaped bool
}

func (n *nesting) closed() bool { return n.depth <= 0 && !n.quoted }

func (n *nesting) scan(text []byte) {
	for _, c := range text {
		switch {
		case n.escaped:
			n.escaped = false
		case n.quoted && c == '\\':
			n.escaped = true
		case c == '"':
			n.quoted = !n.quoted
		case n.quoted:
		case c == '{', c == '[':
			n.depth++
		case c == '}', c == ']':
			n.depth--
		}
	}
}
