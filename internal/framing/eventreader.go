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
// large, and except for comments and unknown fields of events over 64 KiB: those are left out, so
// that a comment of any size is read past. It holds no more than one event of Limits.MaxBytes and
// what one read brought with it.
// Events do not depend on how the stream is cut into reads. It is not safe for concurrent use.
type EventReader struct {
	in     buffer
	max    int
	pos    int // unread bytes before pos have been looked at
	line   int // where the current line begins in the unread bytes, inLine if before them
	lead   int // bytes before the first line: a byte order mark, or the LF of a CRLF cut in two
	crlf   bool
	state  frameState
	over   overflow
	ignore ignoredLines
	join   []byte // holds the data of an event with several data lines
	lastID []byte
}

// inLine is a line start that no position equals: some of the line has been drained.
const inLine = -1

// frameState is what may come before the first line of the next event.
type frameState uint8

const (
	streamStart frameState = iota // a byte order mark
	afterCR                       // an LF that belongs to the CR before it
	inFrame                       // nothing: the lead is known
)

// eventStart is enough for most events. A stream of events often holds one answer and no more, so that a large buffer would cost
// more than the reading. Many streams are open and silent for long, so that none keeps a larger one.
const eventStart = 4 << 10

// NewEventReader returns a reader of the events of r, of which only Limits.MaxBytes counts; it
// bounds the Raw bytes of one event. It reads ahead, so r must not be read by anyone else.
func NewEventReader(r io.Reader, lim wire.Limits) *EventReader {
	most := maxBytes(lim)
	return &EventReader{in: buffer{src: r, most: most + undecided, from: eventStart, keep: eventStart}, max: most}
}

// Next returns the next event: everything up to and with the next blank line, even if it is only
// a comment or the blank line itself. One that is too large is drained and returned with its
// Flaw. At the end the error is what the reader ended with, [io.EOF] as a rule, and stays that;
// bytes that no blank line ended come before it as an event marked Unended.
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
		r.dropIgnored()
		r.drain()
		r.in.fill()
	}
}

// LastEventID returns the id that a client would send to resume after the events returned so far.
// It is good until the next call of Next.
func (r *EventReader) LastEventID() []byte { return r.lastID }

// Buffered returns how many bytes the reader holds that no returned event contains.
func (r *EventReader) Buffered() int { return len(r.in.unread()) }

// scan looks for the end of the event and returns the index behind it, or stop if the unread
// bytes do not tell.
//
// Only the line end of the blank line is delicate: an event that ends in CR must not wait for an
// LF that may never come. So the LF after that CR is awaited only if the line before ended in
// CRLF; otherwise it is the lead of the next event.
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

// readLead finds out what stands before the first line; false if that takes more bytes.
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

// drain gives up what has been looked at if the event is too large for good.
func (r *EventReader) drain() {
	b := r.in.unread()
	if !r.over.active && len(b) < r.max+undecided {
		return
	}
	end := r.pos
	if r.line >= 0 && !isField(b[r.line:r.pos]) {
		end = r.line // it may turn out to be a line that is dropped
	}
	r.over.absorb(b[:end])
	r.in.r += end
	switch {
	case end < r.pos || r.line == r.pos:
		r.line, r.ignore.midLine = 0, false
	default:
		r.line, r.ignore.midLine = inLine, true
	}
	r.pos -= end
	r.ignore.checked = 0
}

// take makes an event of the unread bytes before end.
func (r *EventReader) take(end int) Event {
	raw := r.in.unread()[:end:end]
	lead := r.lead
	r.in.r += end
	if r.over.active || r.ignore.dropped+int64(len(raw)) > r.keepIgnored() {
		raw = raw[:r.compact(raw, len(raw))]
	}
	dropped := r.ignore.dropped
	r.pos, r.line, r.lead, r.ignore = 0, 0, 0, ignoredLines{}
	if !r.over.active && len(raw) <= r.max {
		e := Event{Raw: raw, Size: int64(len(raw)) + dropped, lead: lead}
		r.join = e.parse(raw[lead:], r.join[:0])
		return e
	}
	r.over.absorb(raw)
	size, head, tail := r.over.take()
	e := Event{Size: size + dropped, Flaw: wireflaw.TooLarge, Tail: tail}
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
