package gateway

import (
	"container/list"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/internal/truncate"
)

// repeats refuses calls that keep failing: the same tool with the same arguments in one session. It does not refuse a call that
// may succeed: one with other arguments, one that waited as its error advised, one after a success that may have changed the
// state, and an occasional trial. Each refusal repeats what failed.
type repeats struct {
	policy RepeatPolicy

	mu       sync.Mutex
	sessions map[string]*sessionRepeats // guarded by mu
	recent   list.List                  // guarded by mu; of *sessionRepeats, last used first
	size     int                        // guarded by mu; entries of all sessions

	wasted atomic.Uint64 // see countWasted
}

// sessionRepeats holds the failures of one session. Its fields are guarded by the mutex of repeats.
type sessionRepeats struct {
	id      string
	element *list.Element
	calls   map[callKey]*callStreak
	tools   map[string]*toolStreak
}

// callKey identifies calls with the same tool and arguments.
type callKey struct {
	tool      string
	arguments uint64 // digest
}

// callStreak counts the failures of one call with the same arguments.
type callStreak struct {
	count  int
	since  time.Time     // time of the first failure
	noted  time.Time     // time of the last failure
	due    time.Time     // when the delay advised by the last failure ends; zero if it advised none
	after  time.Duration // that delay
	next   time.Time     // when a trial is let through; zero while calls are not refused
	gap    time.Duration // time from the last trial to the next
	codes  []candor.Code // codes seen so far; a failure with a new code is not a repetition
	code   candor.Code   // code, ref, retry, said and advice are from the last failure
	ref    string
	retry  candor.Retry
	said   string
	advice string
}

// toolStreak counts failures of a tool with the same code, for any arguments. Calls are not refused because of it, since other
// arguments may be better.
type toolStreak struct {
	code         candor.Code
	count        int
	since, noted time.Time
}

const (
	maxStreaks      = 10_000 // entries of all sessions; beyond it, the session that was not used for longest is dropped
	maxSessionCalls = 64     // per session; the oldest is dropped beyond it
	maxRepeated     = 256    // longest tool name whose failures are counted
	maxCodes        = 16     // per call; failures with further codes count as repetitions
	maxSaid         = 240    // bytes of a message that a refusal repeats
	firstGapShare   = 12     // the first trial is let through after this fraction of the window
)

var repeatSeed = maphash.MakeSeed()

func (c *Call) key() callKey {
	return callKey{tool: c.tool, arguments: maphash.Bytes(repeatSeed, c.arguments())}
}

func newRepeats(p RepeatPolicy) repeats {
	p.After, p.Window = OrDefault(p.After, 5), OrDefault(p.Window, time.Minute)
	return repeats{policy: p, sessions: map[string]*sessionRepeats{}}
}

// ignores reports whether failures of a call are not counted. Without a session, clients cannot be distinguished, and the
// mistakes of one would stop the others. Calls with overlong names are not tracked, to bound the memory.
func (r *repeats) ignores(c *Call) bool {
	return r.policy.Off || c.session == "" || len(c.session) > MaxSessionID || len(c.tool) > maxRepeated
}

// isOurRefusal reports whether the gateway refused the call for a reason unrelated to the call itself.
func isOurRefusal(e *candor.Error) bool {
	switch e.Code() {
	case candor.CodeRepeatedFailure, candor.CodeCircuitOpen, candor.CodeTooManyCalls, candor.CodeGatewayDraining:
		return true
	default:
		return false
	}
}

// note counts a failure of a tool. It returns the error to send: e, with different advice if it has occurred too often.
func (r *repeats) note(c *Call, e *candor.Error) *candor.Error {
	if r.ignores(c) || e.Code() == candor.CodeToolNotFound || isOurRefusal(e) {
		return e
	}
	now, key := c.up.Options.Now(), c.key()
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.session(c.session)
	own := r.noteCall(s, key, c, e, now)
	count := max(own, r.noteTool(s, c, e, now))
	if count <= r.policy.After {
		return e
	}
	e = e.With(candor.WithDetails(e.Details().With("repeated", count)))
	switch {
	case e.Retry().Retryable():
		return e // its suggestion is to wait
	case own == 1 && e.Code() == candor.CodeInvalidArguments:
		return e // what it says of these arguments is new
	case strings.HasPrefix(e.Suggestion(), contract.CheckEffect):
		return e.With(candor.WithSuggestion(contract.CheckEffect + " " + candor.CodeRepeatedFailure.Info().Action))
	default:
		return e.With(candor.WithSuggestion(candor.CodeRepeatedFailure.Info().Action))
	}
}

// session returns the failures of a session, with space for two more. The lock must be held.
func (r *repeats) session(id string) *sessionRepeats {
	s := r.used(id)
	if s == nil {
		s = &sessionRepeats{id: id, calls: map[callKey]*callStreak{}, tools: map[string]*toolStreak{}}
		s.element = r.recent.PushFront(s)
		r.sessions[id] = s
	}
	for r.size+2 > maxStreaks {
		r.drop(r.recent.Back().Value.(*sessionRepeats)) //nolint:errcheck,forcetypeassert // nothing else is put there
	}
	return s
}

// used returns the failures of a session that is used now, or nil. The lock must be held.
func (r *repeats) used(id string) *sessionRepeats {
	s := r.sessions[id]
	if s != nil {
		r.recent.MoveToFront(s.element)
	}
	return s
}

// drop forgets the failures of a session. The lock must be held.
func (r *repeats) drop(s *sessionRepeats) {
	r.size -= len(s.calls) + len(s.tools)
	r.recent.Remove(s.element)
	delete(r.sessions, s.id)
}

// noteCall counts a failure for calls with the same arguments, and returns their number.
func (r *repeats) noteCall(s *sessionRepeats, key callKey, c *Call, e *candor.Error, now time.Time) int {
	streak := s.calls[key]
	switch {
	case streak == nil:
		if len(s.calls) >= maxSessionCalls {
			s.dropOldest()
			r.size--
		}
		streak = &callStreak{count: 1, since: now}
		s.calls[key] = streak
		r.size++
	case streak.expired(now, r.policy.Window):
		*streak = callStreak{count: 1, since: now}
	case c.began.Before(streak.noted):
		return streak.count // it began before the other one failed, so it is not a repetition
	case streak.waited(c.began): // it replaces the previous failure, which does not count
	case !slices.Contains(streak.codes, e.Code()) && len(streak.codes) < maxCodes: // the failure is a new one
		r.countWasted(streak)
	default:
		r.countWasted(streak)
		streak.count++
	}
	streak.fail(e, now)
	if streak.next.IsZero() && streak.count >= r.policy.After {
		streak.gap = r.policy.Window / firstGapShare
		streak.next = now.Add(streak.gap)
	}
	return streak.count
}

// countWasted counts a call that failed or was refused and that repeated a failed call against its advice: not to retry, or to wait
// for a delay that was not over. It is called before the failure replaces the earlier one.
func (r *repeats) countWasted(before *callStreak) {
	if !before.retry.Retryable() || before.after > 0 {
		r.wasted.Add(1)
	}
}

// noteTool counts a failure of a tool, for any arguments, and returns their number. Retryable failures are not counted, because
// they are not mistakes of the caller.
func (r *repeats) noteTool(s *sessionRepeats, c *Call, e *candor.Error, now time.Time) int {
	if e.Retry().Retryable() {
		return 0
	}
	streak := s.tools[c.tool]
	switch {
	case streak == nil && len(s.tools) >= maxSessionCalls:
		return 0
	case streak == nil:
		streak = &toolStreak{}
		s.tools[c.tool] = streak
		r.size++
	case c.began.Before(streak.noted):
		return streak.count
	}
	if streak.code != e.Code() || now.Sub(streak.since) > r.policy.Window {
		*streak = toolStreak{code: e.Code(), since: now}
	}
	streak.count++
	streak.noted = now
	return streak.count
}

// fail stores the parts of a failure that a later refusal mentions.
func (s *callStreak) fail(e *candor.Error, now time.Time) {
	s.noted, s.due = now, time.Time{}
	if !slices.Contains(s.codes, e.Code()) && len(s.codes) < maxCodes {
		s.codes = append(s.codes, e.Code())
	}
	s.code, s.ref, s.retry, s.advice = e.Code(), e.Ref(), e.Retry(), e.Suggestion()
	s.said = truncate.Text(e.Message(), maxSaid)
	if s.after = saidDelay(e); s.after > 0 {
		s.due = now.Add(s.after - s.after/10) // client timers are inexact
	}
}

// saidDelay returns the delay after which a failed call may succeed: the advised one, or, for a call that may have taken effect,
// the one that the upstream gave.
func saidDelay(e *candor.Error) time.Duration {
	if after := e.Retry().After(); after > 0 || !asksForCheck(e) {
		return after
	}
	var ms int64
	if err := e.Details().Get("said").Get("retryAfterMs").Decode(&ms); err != nil {
		return 0
	}
	return candor.RetryIn(time.Duration(ms) * time.Millisecond).After()
}

// waited reports whether a call at that time came after the delay that the last failure advised.
func (s *callStreak) waited(at time.Time) bool { return !s.due.IsZero() && !at.Before(s.due) }

// expired reports whether the failures are too old to count.
func (s *callStreak) expired(now time.Time, window time.Duration) bool {
	if s.next.IsZero() {
		return now.Sub(s.since) > window
	}
	return now.Sub(s.next) > window
}

// opens returns the time at which the next call is let through.
func (s *callStreak) opens() time.Time {
	if s.due.IsZero() {
		return s.next
	}
	due := s.noted.Add(s.after) // without the tolerance of waited, so that the refusal repeats the advised delay
	if due.Before(s.next) {
		return due
	}
	return s.next
}

// dropOldest drops the call with the oldest last failure.
func (s *sessionRepeats) dropOldest() {
	var oldest callKey
	var at time.Time
	for key, streak := range s.calls {
		if at.IsZero() || streak.noted.Before(at) {
			oldest, at = key, streak.noted
		}
	}
	delete(s.calls, oldest)
}

// forgive drops failures after a call has succeeded: those of the same tool, and all of the session if the call may have changed
// the state they depend on.
func (r *repeats) forgive(c *Call) {
	if r.ignores(c) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	t := c.tools.tool(c.tool)
	changes := t == nil || !t.readOnly
	s := r.sessions[c.session]
	if s == nil {
		return
	}
	for key := range s.calls {
		if changes || key.tool == c.tool {
			delete(s.calls, key)
			r.size--
		}
	}
	if s.tools[c.tool] != nil {
		delete(s.tools, c.tool)
		r.size--
	}
	if len(s.calls)+len(s.tools) == 0 {
		r.drop(s)
	}
}

// stop returns the refusal of a call that has failed too often, or nil. Misfit means that the call would be refused in any case,
// so that no delay helps.
func (r *repeats) stop(c *Call, misfit bool) *candor.Error {
	if r.ignores(c) {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	key, now := c.key(), c.up.Options.Now()
	var streak *callStreak
	if s := r.used(c.session); s != nil {
		streak = s.calls[key]
	}
	switch {
	case streak == nil, streak.next.IsZero(), streak.expired(now, r.policy.Window), streak.waited(now):
		return nil
	case !now.Before(streak.next):
		c.repeats = true
		return nil
	default:
		r.countWasted(streak)
		return streak.refusal(c, misfit, now)
	}
}

// tried notes that a call is let through as a trial. The next trial follows after twice the time, up to the window.
func (r *repeats) tried(c *Call) {
	if !c.repeats {
		return
	}
	c.repeats = false
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.sessions[c.session]
	if s == nil {
		return
	}
	if streak := s.calls[c.key()]; streak != nil && !streak.next.IsZero() {
		streak.gap = min(2*streak.gap, r.policy.Window)
		streak.next = c.up.Options.Now().Add(streak.gap)
	}
}

// refusal returns the answer to a call that has failed too often. It advises to send the call again only if the last failure did.
func (s *callStreak) refusal(c *Call, misfit bool, now time.Time) *candor.Error {
	advice, said := s.advice, s.said
	if c.up.Options.Mode == ModeStrict { // they may be the upstream's text
		advice, said = s.code.Info().Action, s.code.Info().Sentence
	}
	details := map[string]any{"code": s.code.String(), "times": s.count, "lastRef": s.ref, "advice": advice}
	options := []candor.Option{candor.WithOrigin(candor.PartyGateway, false)}
	message := fmt.Sprintf("This call has failed %d times with the same arguments. The last failure was %s: %s", s.count, s.code.Symbol(), said)
	if !misfit {
		wait := candor.RetryIn(s.opens().Sub(now))
		details["afterMs"] = wait.AfterMs()
		if s.retry.Retryable() {
			options = append(options, candor.WithRetry(wait),
				candor.WithSuggestion("Wait for the delay in the retry advice before sending the same call again, or use another tool."))
		}
	}
	return candor.New(candor.CodeRepeatedFailure, message, append(options, candor.WithDetails(details))...)
}

// MaxSessionID bounds the session ids that are tracked. Requests with longer ones are forwarded but not tracked.
const MaxSessionID = 256
