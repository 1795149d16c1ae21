package gateway

import (
	"hash/maphash"
	"sync"
	"time"

	"github.com/candor-mcp/candor"
)

// repeats notices a model that fails in the same way again and again. A loop costs money and never ends by itself: after so many
// identical failures every further one says so, with what to do instead, and a call that has failed with the very same arguments is stopped
// here. One with other arguments may be the mended one, and goes on.
type repeats struct {
	policy RepeatPolicy
	mu     sync.Mutex
	seen   map[repeatKey]*streak
}

type repeatKey struct{ session, tool string }

// streak is a row of identical failures.
type streak struct {
	code    candor.Code
	count   int
	since   time.Time
	counted time.Time // when the last one was
	last    *candor.Error
	tried   map[uint64]bool // digests of the arguments that failed
}

const (
	maxTried    = 64  // bounds what is remembered of one row
	maxRepeated = 256 // is the longest name of a tool whose rows are looked for
)

var repeatSeed = maphash.MakeSeed()

func (c *Call) digest() uint64 { return maphash.Bytes(repeatSeed, c.arguments()) }

func (s *streak) add(c *Call, e *candor.Error, now time.Time) {
	if len(s.tried) < maxTried {
		s.tried[c.digest()] = true
	}
	if e.Code() == candor.CodeUpstreamGone && c.began.Before(s.counted) {
		return // it was lost together with the one before: one crash is one failure, and nobody has repeated anything
	}
	s.count++
	s.last, s.counted = e, now
}

// maxStreaks bounds what is remembered; when it is full everybody starts afresh.
const maxStreaks = 10_000

func newRepeats(p RepeatPolicy) repeats {
	if p.After <= 0 {
		p.After = 5
	}
	if p.Window <= 0 {
		p.Window = time.Minute
	}
	return repeats{policy: p, seen: map[repeatKey]*streak{}}
}

// blind says that rows are not looked for: nobody wants them, or the call belongs to no session. Without one nobody knows who
// repeats himself, and a few mistakes of one client would stop the tool for all. Names that nobody would give are not remembered: they
// would only be there to fill the memory.
func (r *repeats) blind(c *Call) bool {
	return r.policy.Off || c.session == "" || len(c.session) > maxSessionID || len(c.tool) > maxRepeated
}

// isOurRefusal reports that the gateway would not forward the call for reasons which are not the call's: whoever does as he is told
// and tries again later repeats no mistake.
func isOurRefusal(e *candor.Error) bool {
	switch e.Code() {
	case candor.CodeRepeatedFailure, candor.CodeCircuitOpen, candor.CodeTooManyCalls, candor.CodeGatewayDraining:
		return true
	default:
		return false
	}
}

// note counts a failure of a tool and returns what to tell of it: the error itself, with a firm word once it has come too often.
func (r *repeats) note(c *Call, e *candor.Error) *candor.Error {
	if r.blind(c) || e.Code() == candor.CodeToolNotFound || isOurRefusal(e) {
		return e
	}
	now := c.up.o.now()
	r.mu.Lock()
	defer r.mu.Unlock()
	key := repeatKey{c.session, c.tool}
	s := r.seen[key]
	if s == nil || s.code != e.Code() || now.Sub(s.since) > r.policy.Window {
		if len(r.seen) >= maxStreaks {
			clear(r.seen)
		}
		s = &streak{code: e.Code(), since: now, tried: map[uint64]bool{}}
		r.seen[key] = s
	}
	s.add(c, e, now)
	if s.count <= r.policy.After {
		return e
	}
	return e.With(candor.WithDetails(e.Details().With("repeated", s.count)), candor.WithSuggestion(candor.CodeRepeatedFailure.Action()))
}

// forgive ends the row: the tool works.
func (r *repeats) forgive(c *Call) {
	if r.blind(c) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.seen, repeatKey{c.session, c.tool})
}

// stop returns the firm stop, nil if the call may go on.
func (r *repeats) stop(c *Call) *candor.Error {
	if r.blind(c) {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.seen[repeatKey{c.session, c.tool}]
	if s == nil || s.count < r.policy.After || c.up.o.now().Sub(s.since) > r.policy.Window {
		return nil
	}
	if !s.tried[c.digest()] {
		return nil
	}
	advice := s.last.Suggestion()
	if c.up.o.Mode == ModeStrict { // it may be the upstream's
		advice = s.code.Action()
	}
	return candor.New(candor.CodeRepeatedFailure, "", candor.WithOrigin(candor.PartyGateway, false),
		candor.WithDetails(map[string]any{"code": s.code.String(), "times": s.count, "lastRef": s.last.Ref(), "advice": advice}))
}
