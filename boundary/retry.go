package boundary

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/dual"
	"github.com/candor-mcp/candor/codes/ratelimit"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/tail"
	"github.com/candor-mcp/candor/wire"
)

// Caller calls tools and sends a call again where its error advises that, and only where that is safe: never a call that may
// have had an effect. The zero value with a Session is ready; a Caller is safe for concurrent use once its fields are set.
//
// A failed call is sent again if all of this holds:
//
//   - its retry advice is retryable_immediate or retryable_after_ms;
//   - a second time changes nothing: the tool is annotated readOnlyHint or idempotentHint, or the error proves that the tool did not
//     run (see below);
//   - attempts, waiting time, the caller's deadline and the retry budget suffice. A wait that would not fit is not begun.
//
// These errors prove that the tool did not run, if the peer's own envelope says so and the code is not inferred:
//
//	by the server or gateway   RATE_LIMITED, E_RL_EXCEEDED, TOO_MANY_CALLS, TOO_MANY_SESSIONS, TOOL_LOCK_TIMEOUT
//	by the gateway             CIRCUIT_OPEN, GATEWAY_DRAINING
//	by the gateway             AUDIT_LOG_FAILED, AUDIT_LOCK_FAILED without details.code: it forwards nothing that it cannot record
//	by the transport           no connection could be opened, or the answer was the HTTP status 429
//
// With details.code an AUDIT_ error stands for a failure that could not be recorded, so the tool did run. The same error by a server proves
// nothing, because a tool may keep a trail of its own. Neither does a code in a text, or anything a tool says, because it was running; nor
// a lost connection, a timeout or the HTTP status 503.
type Caller struct {
	Session *mcp.ClientSession

	// MaxAttempts bounds the attempts of one call, the first included; 0 stands for 3.
	MaxAttempts int
	// MaxWait bounds the waiting between the attempts of one call, all together; 0 stands for 30 seconds. An error that asks for
	// more is returned at once.
	MaxWait time.Duration
	// MaxJitter bounds the random time that is added to each wait, so that callers do not come back together; 0 stands for 2
	// seconds. It starts at a tenth of a second and doubles with each attempt. The delay that was asked for is never shortened.
	MaxJitter time.Duration
	// Timeout bounds one attempt; 0 is no bound but the caller's own.
	Timeout time.Duration
	// Budget is the share of calls that may be sent again, over all calls; 0 stands for 0.2. Ten retries are free, so that a rare
	// failure never meets it and a server that is going down is not hammered.
	Budget float64

	mu      sync.Mutex      // guards what follows
	spent   float64         // retries that no call has paid for
	safe    map[string]bool // tools that may be called twice; nil if not known
	listed  time.Time       // when safe was asked for
	changes int             // how often the server said that its tools have changed
}

const (
	freeRetries   = 10
	firstJitter   = 100 * time.Millisecond
	annotationAge = time.Minute // annotations older than this are asked for again
)

// CallTool calls a tool, again where that is advised and safe, and returns the last answer as [Decode] reads it. The error's
// details.attempts says how often the call was sent, and details.retryStopped, where the advice was to go on, why it was not:
// attempts, wait, effect, budget or cancelled. Where a second call could have a second effect, the error is not_retryable as it is
// from Decode. The result is the server's own, also beside an error.
func (c *Caller) CallTool(ctx context.Context, params *mcp.CallToolParams) (*mcp.CallToolResult, *candor.Error) {
	var name string
	if params != nil {
		name = params.Name
	}
	waited := time.Duration(0)
	c.deposit()
	for attempt := 1; ; attempt++ {
		result, err := c.attempt(ctx, params)
		d := decode(result, err, false)
		if d.confidence < 1 {
			return result, nil
		}
		e := d.err
		if e.CallInfo().Tool == "" {
			e = e.With(candor.WithTool(name))
		}
		if !e.Retry().Retryable() {
			return result, ended(e, attempt, "")
		}
		wait, stopped := c.plan(ctx, e, d.notRun, name, attempt, waited)
		if stopped == "" && !pause(ctx, wait) {
			stopped = "cancelled"
		}
		if stopped != "" {
			return result, ended(c.careful(ctx, e, d, name), attempt, stopped)
		}
		waited += wait
	}
}

// ToolListChanged forgets the annotations of the tools. It has the type of mcp.ClientOptions.ToolListChangedHandler, so that
// the server's own notice reaches it; without that they are asked for again after a minute.
func (c *Caller) ToolListChanged(context.Context, *mcp.ToolListChangedRequest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.safe = nil
	c.changes++
}

func (c *Caller) attempt(ctx context.Context, params *mcp.CallToolParams) (*mcp.CallToolResult, error) {
	if c.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.Timeout)
		defer cancel()
	}
	if params != nil { // the session fills in what is missing
		sent := *params
		params = &sent
	}
	return c.Session.CallTool(ctx, params)
}

// careful returns e with advice that cannot cause a second effect, unless the peer's own envelope gave the advice or the tool may be
// called twice.
func (c *Caller) careful(ctx context.Context, e *candor.Error, d decoded, name string) *candor.Error {
	if d.from == fromEnvelope || d.notRun || contract.ProvesNoEffect(e) || c.repeatable(ctx, name) {
		return e
	}
	return contract.AvoidSecondEffect(e)
}

func ended(e *candor.Error, attempts int, stopped string) *candor.Error {
	if attempts == 1 && stopped == "" {
		return e
	}
	details := e.Details()
	if stopped != "" {
		details = details.With("retryStopped", stopped)
	}
	return e.With(candor.WithDetails(details.With("attempts", attempts)))
}

// plan says how long to wait before the next attempt, or why there is none.
func (c *Caller) plan(ctx context.Context, e *candor.Error, notRun bool, name string, attempt int, waited time.Duration) (time.Duration, string) {
	if attempt >= orDefault(c.MaxAttempts, 3) {
		return 0, "attempts"
	}
	left := orDefault(c.MaxWait, 30*time.Second) - waited
	if deadline, ok := ctx.Deadline(); ok {
		left = min(left, time.Until(deadline))
	}
	delay := e.Retry().After()
	switch {
	case ctx.Err() != nil:
		return 0, "cancelled"
	case delay >= left:
		return 0, "wait"
	case !notRun && !c.repeatable(ctx, name):
		return 0, "effect"
	case !c.withdraw():
		return 0, "budget"
	}
	jitter := min(orDefault(c.MaxJitter, 2*time.Second), firstJitter<<min(attempt-1, 20), left-delay)
	return delay + rand.N(jitter+1), "" //nolint:gosec // it spreads callers, it keeps no secret
}

func orDefault[T int | float64 | time.Duration](v, otherwise T) T {
	if v <= 0 {
		return otherwise
	}
	return v
}

// pause waits, and reports false if the context ended first.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// deposit pays a share of a retry for a call.
func (c *Caller) deposit() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.spent = max(0, c.spent-orDefault(c.Budget, 0.2))
}

// withdraw takes one retry out of the budget, if there is one.
func (c *Caller) withdraw() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.spent+1 > freeRetries {
		return false
	}
	c.spent++
	return true
}

// refusals are the codes that a server or gateway gives before it runs a tool.
var (
	refusals = []candor.Code{
		candor.CodeRateLimited, ratelimit.Exceeded, candor.CodeTooManyCalls, candor.CodeTooManySessions,
		dual.ToolLockTimeout,
	}
	gatewayRefusals = []candor.Code{candor.CodeCircuitOpen, candor.CodeGatewayDraining}
)

// source says where an error of a call was read.
type source int

const (
	fromWords    source = iota // in texts, or in members that are not Candor's
	fromEnvelope               // in the peer's own envelope
	fromHere                   // on this side of the wire: the peer has said nothing
)

// errorSource returns the source of what [DecodeError] reads from an error.
func errorSource(err error) source {
	said, ok := errors.AsType[*jsonrpc.Error](err)
	if !ok || said == nil {
		return fromHere
	}
	v, bad := wire.ParseValue(said.Data, wire.Limits{})
	if bad == nil && v.Path(dialect.MetaKey).Present() {
		return fromEnvelope
	}
	return fromWords
}

// neverRan reports that an error proves that the tool was not begun. The table is in the documentation of [Caller].
func neverRan(e *candor.Error, from source) bool {
	by, code := e.Origin().By, e.Code()
	switch {
	case from == fromHere:
		return by == candor.PartyTransport && (code == candor.CodeRateLimited || neverConnected(e))
	case from == fromWords, e.Origin().Inferred:
		return false
	case by == candor.PartyGateway && tail.IsAudit(code):
		return e.Details().Get("code").IsZero()
	case by == candor.PartyGateway && slices.Contains(gatewayRefusals, code):
		return true
	default:
		return (by == candor.PartyGateway || by == candor.PartyServer) && slices.Contains(refusals, code)
	}
}

// neverConnected reports that no connection was opened, so that nothing can have been sent on it.
func neverConnected(err error) bool {
	var (
		name *net.DNSError
		op   *net.OpError
	)
	return errors.As(err, &name) || errors.As(err, &op) && op.Op == "dial"
}

// repeatable reports that the tool says of itself that a second call changes nothing. Of a tool that nothing is known about that
// is not true.
func (c *Caller) repeatable(ctx context.Context, name string) bool {
	c.mu.Lock()
	known := c.safe != nil && time.Since(c.listed) < annotationAge
	safe, changes := c.safe[name], c.changes
	c.mu.Unlock()
	if known {
		return safe
	}
	return c.list(ctx, changes)[name]
}

// list asks the server for its tools. If it cannot, none is repeatable, and it is not asked again soon.
func (c *Caller) list(ctx context.Context, changes int) map[string]bool {
	safe := map[string]bool{}
	seen := 0
	for tool, err := range c.Session.Tools(ctx, nil) {
		if seen++; err != nil || seen > maxListed {
			break
		}
		if a := tool.Annotations; a != nil {
			safe[tool.Name] = a.ReadOnlyHint || a.IdempotentHint
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.changes != changes {
		return nil // what was listed may be the old tools
	}
	c.safe, c.listed = safe, time.Now()
	return safe
}

// maxListed bounds the tools that are remembered of a server that lists without end.
const maxListed = 10_000
