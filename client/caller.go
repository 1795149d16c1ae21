package client

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/contract"
)

// Caller calls tools and repeats a call if its error advises that and a second call cannot have a second effect. Set Session;
// the other fields may be zero. A Caller is safe for concurrent use once its fields are set.
//
// A failed call is repeated if all of this holds:
//
//   - its retry advice is retryable_immediate or retryable_after_ms;
//   - the tool is annotated readOnlyHint or idempotentHint, or the error proves that the tool did not run;
//   - MaxAttempts, MaxWait, the deadline of the context and Budget allow it. A wait that would exceed them is not started.
//
// [contract.ProvesNoEffect] says which errors prove that: refusals of the server or of a gateway before the tool ran,
// and a connection that could not be opened. A text, a code or an envelope of a tool proves nothing, because the tool
// was running, nor does a lost connection, a timeout or the HTTP status 503. After the HTTP status 429 the call is
// repeated, but the error does not advise to: the SDK reports an answer alike that it could not resume because of that
// status, and after that it sends nothing more in the session.
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
	// Timeout limits one attempt, and each listing of the tools. 0 means no limit other than that of the context.
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
// not_retryable, as it is from [Decode]. The result is the server's, also beside an error.
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
		wait, stopped := c.plan(ctx, e, d.refused(), name, attempt, waited)
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
	if d.advised() || contract.ProvesNoEffect(e) || c.repeatable(ctx, name) {
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

// plan returns the wait before the next attempt, or the reason not to make one.
func (c *Caller) plan(ctx context.Context, e *candor.Error, refused bool, name string, attempt int, waited time.Duration) (time.Duration, string) {
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
	case !refused && !contract.ProvesNoEffect(e) && !c.repeatable(ctx, name):
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
	if c.Timeout > 0 {
		limited, cancel := context.WithTimeout(ctx, c.Timeout)
		defer cancel()
		ctx = limited
	}
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
