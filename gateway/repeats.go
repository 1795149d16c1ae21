package gateway

import (
	"sync"
	"time"

	"github.com/candor-mcp/candor"
)

// repeats notices a model that fails in the same way again and again. A loop costs money and never ends by itself: after so many
// identical failures the call is stopped here, with what to do instead.
type repeats struct {
	policy RepeatPolicy
	mu     sync.Mutex
	seen   map[repeatKey]*streak
}

type repeatKey struct{ session, tool string }

// streak is a row of identical failures.
type streak struct {
	code  candor.Code
	count int
	since time.Time
	last  *candor.Error
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
// repeats himself, and a few mistakes of one client would stop the tool for all.
func (r *repeats) blind(c *Call) bool { return r.policy.Off || c.session == "" }

// note counts a failure of a tool.
func (r *repeats) note(c *Call, e *candor.Error) {
	if r.blind(c) || e.Code() == candor.CodeRepeatedFailure {
		return
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
		r.seen[key] = &streak{code: e.Code(), count: 1, since: now, last: e}
		return
	}
	s.count++
	s.last = e
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

// stop returns the firm stop, nil if the call may go on. Misfit is what is wrong with the call itself: a call that has been mended is
// not one more of those that were not.
func (r *repeats) stop(c *Call, misfit *candor.Error) *candor.Error {
	if r.blind(c) {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.seen[repeatKey{c.session, c.tool}]
	if s == nil || s.count < r.policy.After || c.up.o.now().Sub(s.since) > r.policy.Window {
		return nil
	}
	if mended := s.code == candor.CodeInvalidArguments && s.last.Origin().By == candor.PartyGateway && misfit == nil; mended {
		return nil
	}
	return candor.New(candor.CodeRepeatedFailure, "", candor.WithOrigin(candor.PartyGateway, false),
		candor.WithDetails(map[string]any{"code": s.code.String(), "times": s.count, "lastRef": s.last.Ref(), "advice": s.last.Suggestion()}))
}
