package driver

import (
	"context"
	"strings"
	"time"

	"github.com/candor-mcp/candor/internal/framing"
	"github.com/candor-mcp/candor/internal/mcpclient"
	"github.com/candor-mcp/candor/wire"
)

// turn is a set of messages to send, and the answers to wait for.
type turn struct {
	messages [][]byte
	apart    time.Duration // pause between two messages
	wanted   ids           // ids of its requests
	need     int           // number of answers to wait for
	patience time.Duration

	// before is an earlier turn without an answer: answers that do not belong to this turn belong to it.
	before *seen
}

// ids is a set of request ids, as returned by [idKey].
type ids map[string]bool

// seen is the result of a turn.
type seen struct {
	wanted  ids
	need    int // expected answers
	count   int // received answers
	extra   int // unexpected further answers
	notices int // notifications
	answers []string
	raw     []byte // the first answer as received
	size    int64  // of all answers
	status  int
	retry   string
	noise   []string
	end     end
	broken  string // how the connection failed; see [brief]
}

// end is the reason why a turn ended.
type end int

const (
	endAnswered end = iota // all answers were received
	endSilent              // time limit reached
	endOver                // the HTTP response is complete and has no answer
	endBroken              // the connection failed
	endGone                // the connection is closed
	endLeft                // the context was cancelled
)

// converse sends the messages of a turn and collects the answers.
func (d *driver) converse(ctx context.Context, t *turn) *seen {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	d.turns++
	s := &seen{wanted: t.wanted, need: t.need}
	sent := d.sendAll(ctx, d.turns, t)
	exchanges := d.conn.Exchanges()
	limit := t.patience
	if !exchanges {
		limit += d.o.Deadline // sending a long message takes time; patience begins when it is sent
	}
	clock := time.NewTimer(limit)
	defer clock.Stop()
	for {
		select {
		case a, open := <-d.conn.Messages():
			had := s.count
			switch {
			case !open:
				return s.ended(endGone)
			case a.Tag != 0 && a.Tag != d.turns: // of an earlier exchange
			case d.take(ctx, t, s, &a) && s.count >= t.need:
				if exchanges {
					d.drain(ctx, s, sent)
				}
				return s.ended(endAnswered)
			case s.count > had:
				clock.Reset(d.o.Quiet)
			}
		case err := <-sent:
			sent = nil
			if err != nil {
				s.broken = brief(err)
			}
			switch {
			case ctx.Err() != nil:
				return s.ended(endLeft)
			case exchanges && err != nil:
				return s.ended(endBroken)
			case exchanges:
				return s.ended(endOver)
			}
			clock.Reset(t.patience)
		case <-clock.C:
			return s.ended(endSilent)
		case <-ctx.Done():
			return s.ended(endLeft)
		}
	}
}

// drain reads the rest of an HTTP response after its answer: a stream should end there, and further messages belong to the case.
func (d *driver) drain(ctx context.Context, s *seen, over <-chan error) {
	rest := &turn{wanted: ids{}, before: s}
	clock := time.NewTimer(streamEnds)
	defer clock.Stop()
	for {
		select {
		case a, open := <-d.conn.Messages():
			if !open {
				return
			}
			if a.Tag == d.turns && !a.Body {
				d.take(ctx, rest, &seen{}, &a)
			}
		case <-over:
			return
		case <-clock.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// ended sets why the turn ended. A turn with at least one answer is answered.
func (s *seen) ended(why end) *seen {
	if s.count > 0 && why != endLeft {
		why = endAnswered
	}
	s.end = why
	return s
}

// sendAll sends the messages of a turn, and returns a channel for the first error when all are sent. Over HTTP they are sent concurrently.
func (d *driver) sendAll(ctx context.Context, number int, t *turn) <-chan error {
	conn, done, each := d.conn, make(chan error, 1), make(chan error, len(t.messages))
	send := func(m []byte) {
		ctx, cancel := context.WithCancel(ctx)
		if !conn.Exchanges() {
			ctx, cancel = context.WithTimeout(ctx, d.o.Deadline)
		}
		defer cancel()
		each <- conn.Send(ctx, number, m)
	}
	go func() {
		for i, m := range t.messages {
			if i > 0 && t.apart > 0 {
				within(ctx.Done(), t.apart)
			}
			if conn.Exchanges() {
				go send(m)
			} else {
				send(m)
			}
		}
		var first error
		for range t.messages {
			if err := <-each; first == nil {
				first = err
			}
		}
		done <- first
	}()
	return done
}

// take handles a message and reports whether it answers the turn.
func (d *driver) take(ctx context.Context, t *turn, s *seen, a *mcpclient.Message) bool {
	switch {
	case a.Body && len(t.messages) == 1:
		d.keep(s, a, t.need) // no other will come
		return true
	case a.Body:
		d.keep(s, a, 1)
		return true
	case len(a.Data) == 0: // an HTTP response without a body
		s.status, s.retry = a.Status, a.RetryAfter
		return false
	}
	if a.Tail != nil { // too large to parse: only its id is read
		return d.assign(t, s, a, []wire.ID{framing.PeekID(a.Data, a.Tail)})
	}
	about := s // other messages belong to the case, not to the ping after it
	if t.before != nil {
		about = t.before
	}
	var answered []wire.ID
	sound := false
	for _, u := range unitsOf(a.Data) {
		switch u.Shape() {
		case wire.KindResult, wire.KindError:
			sound, answered = true, append(answered, u.ID())
		case wire.KindRequest:
			sound = true
			d.answerRequest(ctx, &u)
		case wire.KindNotification:
			sound = true
			about.notices++
		case wire.KindMalformed:
		}
	}
	if !sound {
		about.hear(d.mask.over(string(a.Data)))
		return false
	}
	return d.assign(t, s, a, answered)
}

// unitsOf parses a message, or the messages of a batch.
func unitsOf(raw []byte) []wire.Message {
	m := wire.Parse(raw, wire.Limits{MaxBytes: maxMessage})
	batch, ok := m.SplitBatch()
	if !ok {
		return []wire.Message{m}
	}
	units := make([]wire.Message, len(batch))
	for i, unit := range batch {
		units[i] = wire.Parse(unit, wire.Limits{MaxBytes: maxMessage})
	}
	return units
}

// assign adds an answer to the turn that it belongs to, by its ids. An answer without an id, or with one that was never used, counts for the
// current turn. Late answers to earlier requests are dropped.
func (d *driver) assign(t *turn, s *seen, a *mcpclient.Message, answered []wire.ID) bool {
	asked, loose, earlier := 0, false, false
	for _, id := range answered {
		key := idKey(id)
		switch {
		case t.wanted[key]:
			asked++
		case t.before != nil && t.before.wanted[key]:
			earlier = true
		case key == "" || !d.used[key]:
			loose = true
		}
	}
	switch {
	case asked > 0:
		d.keep(s, a, asked)
		return true
	case (earlier || loose) && t.before != nil && t.before.count == 0, earlier && t.before.count < t.before.need:
		d.keep(t.before, a, 1)
		return false
	case earlier:
		t.before.extra++
		return false
	case loose:
		d.keep(s, a, t.need)
		return true
	default:
		return false
	}
}

// idKey normalises an id, so that 7, "7" and 7.0 are the same: a server that changes the spelling has still answered.
func idKey(id wire.ID) string {
	if id == nil || id.IsNull() {
		return ""
	}
	return strings.TrimSuffix(strings.Trim(string(id), `"`), ".0")
}

// answerRequest answers a request of the server, as a client without capabilities does, so that it does not wait.
func (d *driver) answerRequest(ctx context.Context, m *wire.Message) {
	if d.answered++; d.answered > maxAnswered {
		return
	}
	conn, message, ctx := d.conn, mcpclient.AnswerTo(m), context.WithoutCancel(ctx)
	go func() {
		ctx, cancel := context.WithTimeout(ctx, d.o.Deadline)
		defer cancel()
		_ = conn.Send(ctx, ownTurn, message) // the server may not read it
	}()
}

// ownTurn is the turn of our answers to the server; messages for it are ignored.
const ownTurn = -1
