package client

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/dual"
	"github.com/candor-mcp/candor/codes/ratelimit"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/internal/record"
)

// Caller calls tools and repeats a call if its error advises that and a second call cannot have a second effect. Set Session;
// the other fields may be zero. A Caller is safe for concurrent use once its fields are set.
//
// A failed call is repeated if all of this holds:
//
//   - its retry advice is retryable_immediate or retryable_after_ms;
//   - the tool is annotated readOnlyHint or idempotentHint, or the error proves that the tool did not run (see below);
//   - MaxAttempts, MaxWait, the deadline of the context and Budget allow it. A wait that would exceed them is not started.
//
// These errors prove that the tool did not run, if they were read from the peer's envelope and the code is not inferred:
//
//	by the server or gateway   RATE_LIMITED, E_RL_EXCEEDED, TOO_MANY_CALLS, TOO_MANY_SESSIONS, TOOL_LOCK_TIMEOUT
//	by the gateway             CIRCUIT_OPEN, GATEWAY_DRAINING
//	by the gateway             AUDIT_LOG_FAILED, AUDIT_LOCK_FAILED without details.code: the call was not forwarded
//	by the transport           no connection could be opened, or the answer was the HTTP status 429
//
// An AUDIT_ error with details.code reports a failure that could not be recorded, so the tool did run. An AUDIT_ error of a
// server proves nothing, because a tool may have a ledger too. Neither does a code in a text or in the result of a tool, because
// the tool was running, nor a lost connection, a timeout or the HTTP status 503.
type Caller struct {
	Session *mcp.ClientSession

	// MaxAttempts is the maximum number of attempts of one call, including the first. 0 means 3.
	MaxAttempts int
	// MaxWait is the maximum total wait between the attempts of one call. 0 means 30 seconds. An error that asks for more is
	// returned at once.
	MaxWait time.Duration
	// MaxJitter is the maximum random time that is added to each wait, so that clients do not retry at the same moment. 0 means
	// 2 seconds. The jitter starts at 100 ms and doubles with each attempt. The delay that the error asks for is never shortened.
	MaxJitter time.Duration
	// Timeout limits one attempt. 0 means no limit other than that of the context.
	Timeout time.Duration
	// Budget is the number of retries per call, averaged over all calls. 0 means 0.2. Ten retries are free, so that rare failures
	// are not affected, and a server that fails every call is not overloaded.
	Budget float64

	mu      sync.Mutex      // guards the fields below
	spent   float64         // retries taken from the budget and not yet paid for by calls
	safe    map[string]bool // tools that may be called twice; nil if not known
	listed  time.Time       // when safe was listed
	changes int             // number of tools/list_changed notifications
}

const (
	freeRetries   = 10
	firstJitter   = 100 * time.Millisecond
	annotationAge = time.Minute // annotations older than this are listed again
)

// CallTool calls a tool, repeats the call where that is advised and safe, and returns the last result and its error as [Decode]
// reads it. details.attempts of the error is the number of attempts. If the advice was to retry, details.retryStopped says why
// CallTool did not: attempts, wait, effect, budget or cancelled. If a second call could have a second effect, the error is
// not_retryable, as it is from Decode. The result is the server's, also beside an error.
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
			return result, withAttempts(e, attempt, "")
		}
		wait, stopped := c.plan(ctx, e, d.notRun, name, attempt, waited)
		if stopped == "" && !pause(ctx, wait) {
			stopped = "cancelled"
		}
		if stopped != "" {
			return result, withAttempts(c.careful(ctx, e, d, name), attempt, stopped)
		}
		waited += wait
	}
}

// ToolListChanged discards the annotations of the tools. Set it as mcp.ClientOptions.ToolListChangedHandler, so that the Caller
// sees the server's notifications; otherwise it lists the tools again after a minute.
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
	if params != nil { // the session modifies its argument
		sent := *params
		params = &sent
	}
	return c.Session.CallTool(ctx, params)
}

// careful returns e with advice that cannot cause a second effect, unless the peer's envelope gave the advice or the tool may be
// called twice.
func (c *Caller) careful(ctx context.Context, e *candor.Error, d decoded, name string) *candor.Error {
	if d.from == fromEnvelope || d.notRun || contract.ProvesNoEffect(e) || c.repeatable(ctx, name) {
		return e
	}
	return contract.AvoidSecondEffect(e)
}

// withAttempts adds details.attempts and details.retryStopped to an error.
func withAttempts(e *candor.Error, attempts int, stopped string) *candor.Error {
	if attempts == 1 && stopped == "" {
		return e
	}
	details := e.Details()
	if stopped != "" {
		details = details.With("retryStopped", stopped)
	}
	return e.With(candor.WithDetails(details.With("attempts", attempts)))
}

// plan returns the wait before the next attempt, or the reason why there is none.
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
	return delay + rand.N(jitter+1), "" //nolint:gosec // jitter need not be unpredictable
}

func orDefault[T int | float64 | time.Duration](v, otherwise T) T {
	if v <= 0 {
		return otherwise
	}
	return v
}

// pause waits for d. It reports false if the context ended first.
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

// deposit adds the share of one call to the retry budget.
func (c *Caller) deposit() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.spent = max(0, c.spent-orDefault(c.Budget, 0.2))
}

// withdraw takes one retry from the budget. It reports false if the budget is used up.
func (c *Caller) withdraw() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.spent+1 > freeRetries {
		return false
	}
	c.spent++
	return true
}

var (
	// refusals are the codes with which a server or gateway refuses a call before it runs the tool.
	refusals = []candor.Code{
		candor.CodeRateLimited, ratelimit.Exceeded, candor.CodeTooManyCalls, candor.CodeTooManySessions,
		dual.ToolLockTimeout,
	}
	// gatewayRefusals prove the same only if they are from a gateway.
	gatewayRefusals = []candor.Code{candor.CodeCircuitOpen, candor.CodeGatewayDraining}
)

// provesNotRun reports whether an error proves that the tool did not run. The table is in the documentation of [Caller].
func provesNotRun(e *candor.Error, from source) bool {
	by, code := e.Origin().By, e.Code()
	switch {
	case from == fromHere:
		return by == candor.PartyTransport && (code == candor.CodeRateLimited || neverConnected(e))
	case from == fromText, e.Origin().Inferred:
		return false
	case by == candor.PartyGateway && record.IsAudit(code):
		return e.Details().Get("code").IsZero()
	case by == candor.PartyGateway && slices.Contains(gatewayRefusals, code):
		return true
	default:
		return (by == candor.PartyGateway || by == candor.PartyServer) && slices.Contains(refusals, code)
	}
}

// neverConnected reports whether an error says that no connection was opened, so that nothing was sent.
func neverConnected(err error) bool {
	var (
		name *net.DNSError
		op   *net.OpError
	)
	return errors.As(err, &name) || errors.As(err, &op) && op.Op == "dial"
}

// repeatable reports whether the tool is known to be read-only or idempotent.
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

// list lists the tools of the server. If that fails, no tool is repeatable until the next listing.
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
		return nil // the list may be out of date
	}
	c.safe, c.listed = safe, time.Now()
	return safe
}

// maxListed is the maximum number of tools that are read from a server.
const maxListed = 10_000
