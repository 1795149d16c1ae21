package drive

import (
	"context"
	"strings"
	"time"

	"github.com/candor-mcp/candor/wire"
)

// turn is what is sent at once, and which answers it waits for.
type turn struct {
	messages [][]byte
	apart    time.Duration // between two messages; zero is at once
	wanted   ids           // of the requests among them
	need     int           // how many answers there are to wait for
	patience time.Duration

	// before is an earlier turn that nobody has answered: what does not belong to this one belongs to that.
	before *seen
}

// ids are the ids of requests, in the spelling of [idKey].
type ids map[string]bool

// seen is what came of a turn.
type seen struct {
	wanted  ids
	need    int // answers that there were to wait for
	count   int // answers that came
	extra   int // answers beyond those
	notices int // notifications
	answers []string
	raw     []byte // the first of them as it came
	size    int64  // of all answers, kept or not
	status  int
	retry   string
	noise   []string
	end     end
	broken  string // how the connection broke, see [brief]
}

// end is why a turn was over.
type end int

const (
	endAnswered end = iota // all answers came
	endSilent              // time was up
	endOver                // the exchange over HTTP is complete, and holds no answer
	endBroken              // the connection broke
	endGone                // the connection is over for good
	endLeft                // we were told to stop
)

// converse makes a turn.
func (d *driver) converse(ctx context.Context, t *turn) *seen {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	d.turns++
	s := &seen{wanted: t.wanted, need: t.need}
	sent := d.hand(ctx, d.turns, t)
	exchanges := d.link.exchanges()
	limit := t.patience
	if !exchanges {
		limit += d.o.Deadline // a long message takes its time; patience begins when it is written
	}
	clock := time.NewTimer(limit)
	defer clock.Stop()
	for {
		select {
		case a, open := <-d.link.arrivals():
			had := s.count
			switch {
			case !open:
				return s.ended(endGone)
			case a.turn != 0 && a.turn != d.turns: // of an exchange that was given up
			case d.take(ctx, t, s, &a) && s.count >= t.need:
				if exchanges {
					d.hearOut(ctx, s, sent)
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

// hearOut listens to the rest of an exchange that has its answer: a stream should end with that, and what else comes in it belongs to the case.
func (d *driver) hearOut(ctx context.Context, s *seen, over <-chan error) {
	rest := &turn{wanted: ids{}, before: s}
	clock := time.NewTimer(streamEnds)
	defer clock.Stop()
	for {
		select {
		case a, open := <-d.link.arrivals():
			if !open {
				return
			}
			if a.turn == d.turns && !a.whole {
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

// ended notes why the turn is over. One answer of several is an answer.
func (s *seen) ended(why end) *seen {
	if s.count > 0 && why != endLeft {
		why = endAnswered
	}
	s.end = why
	return s
}

// hand sends the messages of a turn and tells when all are gone, with the first error. Where each is an exchange of its own, they
// are made at once.
func (d *driver) hand(ctx context.Context, number int, t *turn) <-chan error {
	link, done, each := d.link, make(chan error, 1), make(chan error, len(t.messages))
	go func() {
		for i, m := range t.messages {
			if i > 0 && t.apart > 0 {
				pause(ctx, t.apart)
			}
			if link.exchanges() {
				go func() { each <- link.send(ctx, number, m) }()
			} else {
				each <- link.send(ctx, number, m)
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

func pause(ctx context.Context, d time.Duration) {
	clock := time.NewTimer(d)
	defer clock.Stop()
	select {
	case <-clock.C:
	case <-ctx.Done():
	}
}

// take looks at an arrival, and reports one that answers the turn.
func (d *driver) take(ctx context.Context, t *turn, s *seen, a *arrival) bool {
	switch {
	case a.whole && len(t.messages) == 1:
		d.keep(s, a, t.need) // there will be no other
		return true
	case a.whole:
		d.keep(s, a, 1)
		return true
	case len(a.message) == 0: // an answer over HTTP that holds nothing
		s.status, s.retry = a.status, a.retryAfter
		return false
	}
	if a.tail != nil { // too large to be read: its id decides
		return d.file(t, s, a, []wire.ID{wire.PeekID(a.message, a.tail)})
	}
	m := wire.Parse(a.message, wire.Limits{MaxBytes: maxMessage})
	units := [][]byte{a.message}
	if batch, ok := m.SplitBatch(); ok {
		units = batch
	}
	about := s // what is no answer belongs to the case, not to the question whether the server is alive
	if t.before != nil {
		about = t.before
	}
	var answered []wire.ID
	sound := false
	for _, unit := range units {
		u := wire.Parse(unit, wire.Limits{MaxBytes: maxMessage})
		switch u.Shape() {
		case wire.KindResult, wire.KindError:
			sound, answered = true, append(answered, u.ID())
		case wire.KindRequest:
			sound = true
			d.oblige(ctx, &u)
		case wire.KindNotification:
			sound = true
			about.notices++
		case wire.KindMalformed:
		}
	}
	if !sound {
		about.hear(d.literal(string(a.message)))
		return false
	}
	return d.file(t, s, a, answered)
}

// file gives an answer to the turn that it belongs to, by its ids: one that was asked for, one that the server does not name, or one
// that nobody has ever used, which is a wrong answer, but an answer. Late answers to earlier requests belong to nobody.
func (d *driver) file(t *turn, s *seen, a *arrival, answered []wire.ID) bool {
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

// idKey spells an id so that 7, "7" and 7.0 are the same: a server that changes the spelling has still answered.
func idKey(id wire.ID) string {
	if id == nil || id.IsNull() {
		return ""
	}
	return strings.TrimSuffix(strings.Trim(string(id), `"`), ".0")
}

// oblige answers a request of the server, so that it does not wait: a client that can do nothing is a sound client.
func (d *driver) oblige(ctx context.Context, m *wire.Message) {
	if d.obliged++; d.obliged > maxObliged {
		return
	}
	answer := `"error":{"code":-32601,"message":"Method not found"}`
	switch {
	case m.MethodIs("ping"):
		answer = `"result":{}`
	case m.MethodIs("roots/list"):
		answer = `"result":{"roots":[]}`
	}
	message := []byte(`{"jsonrpc":"2.0","id":` + string(m.ID()) + `,` + answer + `}`)
	link, ctx := d.link, context.WithoutCancel(ctx)
	go func() {
		ctx, cancel := context.WithTimeout(ctx, d.o.Deadline)
		defer cancel()
		_ = link.send(ctx, obliging, message) // a server that does not listen has only itself to blame
	}()
}

// obliging is the turn of an answer of ours: what comes for it is of no interest.
const obliging = -1
