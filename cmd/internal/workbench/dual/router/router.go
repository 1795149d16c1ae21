package router

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/contract"
)

// Upstream is a server that calls can be sent to.
type Upstream struct {
	Name string
	Cost float64 // of a call, in any unit that all upstreams share
	// Dial connects to the server. The connection is used for many calls.
	Dial func(ctx context.Context) (Conn, error)
}

// Conn is a connection to an upstream. It is safe for concurrent use.
type Conn interface {
	// CallTool calls a tool and returns its answer. A failure is a *candor.Error; if it wraps [ErrSessionEnded], the
	// connection had ended before the call, and the call was not made.
	CallTool(ctx context.Context, tool string, arguments json.RawMessage) (Answer, error)
	// Repeatable reports whether the tool declares that a second call has no further effect.
	Repeatable(tool string) bool
	// Alive reports whether the connection can be used for another call.
	Alive() bool
	Close() error
}

// ErrSessionEnded is the error for a connection that ended before a call could be made on it.
var ErrSessionEnded = errors.New("the session with the server has ended")

// Answer is the result of an upstream.
type Answer struct {
	Result json.RawMessage `json:"result"` // the structured content, or an object with the content
	// Content is the content beside structured content, unless it is only a text copy of it.
	Content json.RawMessage `json:"content,omitempty"`
	// Suspected is the failure that the answer seems to be although it is marked as a success; usually nil.
	Suspected *Suspicion `json:"suspected,omitempty"`
}

// Suspicion is a failure that was guessed from the text of an answer.
type Suspicion struct {
	Code       string  `json:"code"`
	Confidence float64 `json:"confidence"` // below 1
	fault      bool
}

// Attempt is one attempt of a chain.
type Attempt struct {
	Upstream  string        `json:"upstream"`
	Code      string        `json:"code,omitempty"` // domain/SYMBOL; "" for a success
	Message   string        `json:"message,omitempty"`
	Latency   time.Duration `json:"-"`
	LatencyMs float64       `json:"latency_ms"`
	Fault     bool          `json:"-"` // the failure was caused by the upstream, not by the caller
}

// Router sends calls to upstreams. It is safe for concurrent use.
type Router struct {
	upstreams []Upstream
	conns     []slot
	measure   func(ctx context.Context, tool string, a Attempt)
}

// slot holds the connection to an upstream. Its lock is a channel, so that waiting for it ends when the call is
// cancelled.
type slot struct {
	lock chan struct{}
	conn Conn
}

// New returns a router. measure is called after each attempt.
func New(upstreams []Upstream, measure func(ctx context.Context, tool string, a Attempt)) *Router {
	r := &Router{upstreams: upstreams, conns: make([]slot, len(upstreams)), measure: measure}
	for i := range r.conns {
		r.conns[i].lock = make(chan struct{}, 1)
	}
	return r
}

// Upstreams returns the names, in the order of the configuration.
func (r *Router) Upstreams() []string {
	names := make([]string, len(r.upstreams))
	for i, u := range r.upstreams {
		names[i] = u.Name
	}
	return names
}

// Cost returns the cost of a call of an upstream.
func (r *Router) Cost(name string) float64 {
	if i := r.index(name); i >= 0 {
		return r.upstreams[i].Cost
	}
	return 0
}

func (r *Router) index(name string) int {
	return slices.IndexFunc(r.upstreams, func(u Upstream) bool { return u.Name == name })
}

// Result is the result of a successful chain.
type Result struct {
	Upstream string `json:"upstream"`
	Answer
	Attempts []Attempt `json:"attempts"`
}

// ExhaustedError is the error for a chain in which no upstream answered.
type ExhaustedError struct {
	Attempts []Attempt
	Last     *candor.Error // nil if the chain is empty
}

// Error returns the number of attempts.
func (e *ExhaustedError) Error() string { return fmt.Sprintf("%d upstreams failed", len(e.Attempts)) }

// Call sends a call to the upstreams of a chain, one after the other, until one answers. It continues only after a
// failure of an upstream, and only if the call can be repeated without a second effect, according to the failure or to
// the tool's hints. Other failures are returned unchanged, with the attempts. Failures that the caller caused are not
// measured, because they show nothing about the upstream.
func (r *Router) Call(ctx context.Context, chain []string, tool string, arguments json.RawMessage) (Result, []Attempt, error) {
	var attempts []Attempt
	var last *candor.Error
	for n, name := range chain {
		i := r.index(name)
		if i < 0 {
			continue
		}
		began := time.Now()
		answer, repeatable, err := r.call(ctx, i, tool, arguments)
		a := Attempt{Upstream: name, Latency: time.Since(began)}
		a.LatencyMs = milliseconds(a.Latency)
		if err == nil {
			measured := a
			if s := answer.Suspected; s != nil && s.fault {
				measured.Code, measured.Fault = s.Code, true
			}
			r.measure(ctx, tool, measured)
			attempts = append(attempts, a)
			return Result{name, answer, attempts}, attempts, nil
		}
		last = candor.From(err)
		a.Code, a.Message, a.Fault = last.Code().String(), last.Message(), isFault(last)
		attempts = append(attempts, a)
		switch {
		case ctx.Err() != nil:
			return Result{}, attempts, ctx.Err() // the call was cancelled, which shows nothing about the upstream
		case !a.Fault:
			return Result{}, attempts, last
		}
		r.measure(ctx, tool, a)
		if !repeatable && !last.Retry().Retryable() && !contract.ProvesNoEffect(last) {
			return Result{}, attempts, stopped(last, len(chain)-n-1)
		}
	}
	return Result{}, attempts, &ExhaustedError{attempts, last}
}

// stopped is the error after which the other upstreams of a chain are not tried, because a second call could have a
// second effect.
func stopped(e *candor.Error, left int) *candor.Error {
	if left == 0 {
		return e
	}
	return e.With(candor.WithDetails(e.Details().With("fallbackStopped", "effect")),
		candor.WithSuggestion("Check whether the call took effect before you call another upstream: the tool does not declare that it can be repeated."))
}

// isFault reports whether the upstream caused a failure, so that another server may succeed.
func isFault(e *candor.Error) bool {
	switch e.Class() {
	case candor.ClassUnavailable, candor.ClassTimeout, candor.ClassInternal, candor.ClassRateLimited:
		return true
	default:
		return false
	}
}

// call calls a tool of an upstream. If the connection has ended, it reconnects once.
func (r *Router) call(ctx context.Context, i int, tool string, arguments json.RawMessage) (answer Answer, repeatable bool, err error) {
	for range 2 {
		var conn Conn
		if conn, err = r.conn(ctx, i); err != nil {
			return Answer{}, false, err
		}
		answer, err = conn.CallTool(ctx, tool, arguments)
		if repeatable = err != nil && conn.Repeatable(tool); !errors.Is(err, ErrSessionEnded) {
			break
		}
	}
	return answer, repeatable, err
}

// conn returns the connection to an upstream. It reconnects if the connection has ended.
func (r *Router) conn(ctx context.Context, i int) (Conn, error) {
	s := &r.conns[i]
	select {
	case s.lock <- struct{}{}:
		defer func() { <-s.lock }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if s.conn != nil && s.conn.Alive() {
		return s.conn, nil
	}
	if s.conn != nil {
		_ = s.conn.Close() // it is unusable
		s.conn = nil
	}
	conn, err := r.upstreams[i].Dial(ctx)
	if err != nil {
		return nil, unreachable(err)
	}
	s.conn = conn
	return conn, nil
}

// unreachable is the error for a server that could not be connected to. The call was not made, and another server may
// be tried.
func unreachable(err error) *candor.Error {
	return candor.New(candor.CodeUpstreamUnavailable, "The server could not be started or reached.", candor.WithCause(err),
		candor.WithRetry(candor.RetryIn(time.Second)), candor.WithOrigin(candor.PartyTransport, false))
}

// Close closes all connections.
func (r *Router) Close() error {
	var err error
	for i := range r.conns {
		s := &r.conns[i]
		s.lock <- struct{}{}
		if s.conn != nil {
			err = errors.Join(err, s.conn.Close())
			s.conn = nil
		}
		<-s.lock
	}
	return err
}
