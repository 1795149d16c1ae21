package framing

import (
	"bytes"
	"encoding/binary"
	"io"
	"math/bits"

	"github.com/candor-mcp/candor/internal/wireflaw"
	"github.com/candor-mcp/candor/wire"
)

// EventReader cuts an event stream, as the WHATWG HTML standard defines it, into events. The Raw
// parts of the events it returns are together exactly the stream, except for events that are too
// large. It holds at most one event of Limits.MaxBytes and the bytes of one read.
// Events do not depend on how the stream is cut into reads. It is not safe for concurrent use.
type EventReader struct {
	in     buffer
	max    int
	pos    int // unread bytes before pos have been scanned
	line   int // where the current line begins in the unread bytes, inLine if before them
	lead   int // bytes before the first line: a byte order mark, or the LF of a CRLF cut in two
	crlf   bool
	state  frameState
	over   overflow
	join   []byte // holds the data of an event with several data lines
	lastID []byte
}

// inLine is the line start if a part of the line has been drained.
const inLine = -1

// frameState is what may come before the first line of the next event.
type frameState uint8

const (
	streamStart frameState = iota // a byte order mark
	afterCR                       // an LF that belongs to the CR before it
	inFrame                       // nothing: the lead is known
)

// eventStart is enough for most events. Streams often carry a single answer, and many are silent for long, so their buffers start
// small and are not kept large.
const eventStart = 4 << 10

// NewEventReader returns a reader of the events of r, of which only Limits.MaxBytes counts; it
// bounds the Raw bytes of one event. It reads ahead, so r must not be read by anyone else.
func NewEventReader(r io.Reader, lim wire.Limits) *EventReader {
	most := maxBytes(lim)
	return &EventReader{in: buffer{src: r, most: most + len("\r\n"), from: eventStart, keep: eventStart}, max: most}
}

// Next returns the next event: everything up to and with the next blank line, even if it is only
// a comment or the blank line itself. One that is too large is drained and returned with its
// Flaw. At the end it returns the error of the reader, usually [io.EOF]; remaining bytes
// without a blank line come before it as an event marked Unended.
func (r *EventReader) Next() (Event, error) {
	if cap(r.join) > eventStart {
		r.join = nil
	}
	for {
		if end := r.scan(); end != stop {
			e := r.take(end)
			if e.HasID {
				r.lastID = append(r.lastID[:0], e.ID...)
			}
			return e, nil
		}
		if r.in.err != nil {
			return r.last()
		}
		r.drain()
		r.in.fill()
	}
}

// LastEventID returns the id that a client would send to resume after the events returned so far.
// It is valid until the next call of Next.
func (r *EventReader) LastEventID() []byte { return r.lastID }

// Buffered returns how many bytes the reader holds that no returned event contains.
func (r *EventReader) Buffered() int { return len(r.in.unread()) }

// scan looks for the end of the event and returns the index after it, or stop if more bytes are
// needed.
//
// An event that ends in CR must not wait for an LF that may never come. The LF after that CR is
// awaited only if the previous line ended in CRLF; otherwise it is the lead of the next event.
func (r *EventReader) scan() int {
	b := r.in.unread()
	if !r.readLead(b) {
		return stop
	}
	for {
		i := lineEndAt(b, r.pos)
		r.pos = i
		if i == len(b) {
			return stop
		}
		empty := i == r.line
		if b[i] == '\r' && empty && !r.crlf {
			r.state = afterCR
			return i + 1
		}
		if b[i] == '\r' && i+1 == len(b) && r.in.err == nil {
			return stop
		}
		end := i + 1
		r.crlf = b[i] == '\r' && end < len(b) && b[end] == '\n'
		if r.crlf {
			end++
		}
		if empty {
			r.state = inFrame
			return end
		}
		r.pos, r.line = end, end
	}
}

// readLead detects the bytes before the first line. It returns false if it needs more bytes.
func (r *EventReader) readLead(b []byte) bool {
	if r.state == inFrame {
		return true
	}
	lead := bom
	if r.state == afterCR {
		lead = []byte("\n")
	}
	if len(b) < len(lead) && bytes.HasPrefix(lead, b) && r.in.err == nil {
		return false
	}
	if bytes.HasPrefix(b, lead) {
		r.lead = len(lead)
		r.pos, r.line = r.lead, r.lead
	}
	r.state = inFrame
	return true
}

// drain discards the buffered part of an oversized event.
func (r *EventReader) drain() {
	b := r.in.unread()
	if !r.over.active && len(b) <= r.max {
		return
	}
	r.over.absorb(b[:r.pos])
	r.in.r += r.pos
	if r.line == r.pos {
		r.line = 0
	} else {
		r.line = inLine
	}
	r.pos = 0
}

// take makes an event of the unread bytes before end.
func (r *EventReader) take(end int) Event {
	raw := r.in.unread()[:end:end]
	lead := r.lead
	r.in.r += end
	r.pos, r.line, r.lead = 0, 0, 0
	if !r.over.active && len(raw) <= r.max {
		e := Event{Raw: raw, Size: int64(len(raw)), lead: lead}
		r.join = e.parse(raw[lead:], r.join[:0])
		return e
	}
	r.over.absorb(raw)
	size, head, tail := r.over.take()
	e := Event{Size: size, Flaw: wireflaw.TooLarge, Tail: tail}
	e.parse(head[min(lead, len(head)):], nil)
	e.Head, e.Data = e.Data, nil
	return e
}

func (r *EventReader) last() (Event, error) {
	rest := len(r.in.unread())
	if rest == 0 && !r.over.active {
		return Event{}, r.in.err
	}
	onlyLead := rest == r.lead && !r.over.active
	e := r.take(rest)
	e.Unended = !onlyLead
	return e, nil
}

// lineEndAt returns the index of the first CR or LF at or after i, or len(b).
func lineEndAt(b []byte, i int) int {
	const (
		ones = 0x0101010101010101
		tops = 0x80 * ones
	)
	for ; i+8 <= len(b); i += 8 { // eight bytes at a time: the lowest bit that is set in found marks the first CR or LF
		x := binary.LittleEndian.Uint64(b[i:])
		cr, lf := x^'\r'*ones, x^'\n'*ones
		if found := (((cr - ones) &^ cr) | ((lf - ones) &^ lf)) & tops; found != 0 {
			return i + bits.TrailingZeros64(found)>>3
		}
	}
	for i < len(b) && b[i] != '\r' && b[i] != '\n' {
		i++
	}
	return i
}
