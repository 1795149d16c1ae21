package router

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/candor-mcp/candor"
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
	// CallTool calls a tool and returns its result. A failure is a *candor.Error.
	CallTool(ctx context.Context, tool string, arguments json.RawMessage) (json.RawMessage, error)
	// Alive reports whether the connection can be used for another call.
	Alive() bool
	Close() error
}

// Attempt is one try of a chain.
type Attempt struct {
	Upstream  string        `json:"upstream"`
	Code      string        `json:"code,omitempty"` // domain/SYMBOL; "" for a success
	Message   string        `json:"message,omitempty"`
	Latency   time.Duration `json:"-"`
	LatencyMs float64       `json:"latency_ms"`
	Fault     bool          `json:"-"` // the upstream has failed, not the caller
}

// Router sends calls to upstreams. It is safe for concurrent use.
type Router struct {
	upstreams []Upstream
	conns     []slot
	measure   func(ctx context.Context, tool string, a Attempt)
}

// slot holds the connection to an upstream. Its lock is a channel, so that waiting for it ends with the call.
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

// Result is how a chain ended well.
type Result struct {
	Upstream string          `json:"upstream"`
	Result   json.RawMessage `json:"result"`
	Attempts []Attempt       `json:"attempts"`
}

// ExhaustedError says that no upstream of a chain answered.
type ExhaustedError struct {
	Attempts []Attempt
	Last     *candor.Error // nil if the chain is empty
}

// Error counts the attempts.
func (e *ExhaustedError) Error() string { return fmt.Sprintf("%d upstreams failed", len(e.Attempts)) }

// Call sends a call to the upstreams of a chain, one after the other, until one answers. It goes on only after a failure that allows it: one
// that another server may not have, and after which the call can be made again without a second effect. Other failures are returned as
// they are, with the attempts.
func (r *Router) Call(ctx context.Context, chain []string, tool string, arguments json.RawMessage) (Result, []Attempt, error) {
	var attempts []Attempt
	var last *candor.Error
	for _, name := range chain {
		i := r.index(name)
		if i < 0 {
			continue
		}
		began := time.Now()
		raw, err := r.call(ctx, i, tool, arguments)
		a := Attempt{Upstream: name, Latency: time.Since(began)}
		a.LatencyMs = milliseconds(a.Latency)
		if err == nil {
			r.measure(ctx, tool, a)
			attempts = append(attempts, a)
			return Result{name, raw, attempts}, attempts, nil
		}
		last = candor.From(err)
		a.Code, a.Message, a.Fault = last.Code().String(), last.Message(), isFault(last)
		attempts = append(attempts, a)
		if ctx.Err() != nil {
			return Result{}, attempts, ctx.Err() // the caller left, which says nothing about the upstream
		}
		r.measure(ctx, tool, a)
		if !a.Fault || !last.Retry().Retryable() {
			return Result{}, attempts, last
		}
	}
	return Result{}, attempts, &ExhaustedError{attempts, last}
}

// isFault reports a failure of the upstream: another server may not have it.
func isFault(e *candor.Error) bool {
	switch e.Class() {
	case candor.ClassUnavailable, candor.ClassTimeout, candor.ClassInternal, candor.ClassRateLimited:
		return true
	default:
		return false
	}
}

func (r *Router) call(ctx context.Context, i int, tool string, arguments json.RawMessage) (json.RawMessage, error) {
	conn, err := r.conn(ctx, i)
	if err != nil {
		return nil, err
	}
	return conn.CallTool(ctx, tool, arguments)
}

// conn returns the connection to an upstream. It connects again if the connection has ended.
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
		_ = s.conn.Close() // it is dead
		s.conn = nil
	}
	conn, err := r.upstreams[i].Dial(ctx)
	if err != nil {
		return nil, unreachable(err)
	}
	s.conn = conn
	return conn, nil
}

// unreachable is the failure of a server that could not be connected to: nothing was done, and another server may be tried.
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
