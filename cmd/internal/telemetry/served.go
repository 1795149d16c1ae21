package telemetry

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel/propagation"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/wire"
)

// Served observes the calls of a server in this process. It is the Tracer of a boundary; its Ledger connects each failure with the
// entry that is recorded for it, so that every failure entry has exactly one span and one log record, with its ref.
type Served struct {
	name string
	seen *Observer
}

// NewServed returns an observer of the calls of a server. name is the server in spans, metrics and logs.
func NewServed(name string, seen *Observer) *Served { return &Served{name: name, seen: seen} }

// servedCall is a call in progress.
type servedCall struct {
	mu    sync.Mutex
	ended bool
	noted *candor.Failure // the first failure of the call, which its span reports
	kept  bool            // noted was recorded
}

type servedKey struct{}

// note makes f the failure of the call. It reports false if the call has a failure already or has ended.
func (c *servedCall) note(f candor.Failure, kept bool) bool {
	if c == nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended || c.noted != nil {
		return false
	}
	c.noted, c.kept = &f, kept
	return true
}

// end marks the call as ended. It reports false if it has ended before.
func (c *servedCall) end() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	first := !c.ended
	c.ended = true
	return first
}

// Join returns ctx with the trace in the headers of an HTTP request.
func (*Served) Join(ctx context.Context, h http.Header) context.Context {
	return join(ctx, propagation.HeaderCarrier(h))
}

// StartCall implements the Tracer of package boundary.
func (s *Served) StartCall(ctx context.Context, method, tool string, meta map[string]any) (context.Context, func(*candor.Error)) {
	c, began := &servedCall{}, time.Now()
	within := context.WithValue(ctx, servedKey{}, c)
	return within, func(sent *candor.Error) {
		if !c.end() {
			return
		}
		e := &gateway.Ending{
			Tool: tool, IsCall: !strings.HasPrefix(method, "notifications/"), Began: began, Ended: time.Now(),
		}
		switch {
		case c.noted != nil:
			e.Unrecorded = !c.kept
		case sent != nil: // the transport records this failure, and its span is made then
			return
		case !e.IsCall:
			return
		}
		s.ended(ctx, e, c.noted, method, meta)
	}
}

// ended reports the end of a call with that failure, or nil.
func (s *Served) ended(ctx context.Context, e *gateway.Ending, f *candor.Failure, method string, meta map[string]any) {
	if f != nil {
		e.Failure, e.Silent, e.Session = *f, f.Sent == nil, f.Error.CallInfo().SessionID
	}
	e.Upstream, e.Method, e.Attempt = s.name, method, 1
	s.seen.ended(ctx, e, meta)
}

// Ledger returns a ledger that observes the failures that next records. next may be nil.
func (s *Served) Ledger(next candor.Ledger) candor.Ledger { return servedLedger{s, next} }

type servedLedger struct {
	served *Served
	next   candor.Ledger
}

// RecordFailure implements [candor.Ledger].
func (l servedLedger) RecordFailure(ctx context.Context, f candor.Failure) (err error) {
	if l.next != nil {
		err = l.next.RecordFailure(ctx, f)
	}
	c, _ := ctx.Value(servedKey{}).(*servedCall)
	if !c.note(f, err == nil) {
		l.served.failedOutside(ctx, &f, err == nil)
	}
	return err
}

// methodCallTool is the method of which spans name the tool.
const methodCallTool = "tools/call"

// failedOutside observes a failure that the transport found: a message that cannot be read, or a call that is refused before it starts,
// such as that of an unknown method.
func (s *Served) failedOutside(ctx context.Context, f *candor.Failure, kept bool) {
	now := time.Now()
	e := &gateway.Ending{
		Began: now, Ended: now, Unrecorded: !kept,
		IsCall: f.Method != "" && f.Verdict == string(contract.VerdictProtocol) && f.Sent != nil,
	}
	if f.Method == methodCallTool {
		e.Tool = f.Error.CallInfo().Tool
	}
	s.ended(ctx, e, f, f.Method, metaOf(f.Arguments))
}

// metaOf returns the trace in the params of a message.
func metaOf(params []byte) map[string]any {
	if len(params) == 0 {
		return nil
	}
	v, err := wire.ParseValue(params, wire.Limits{})
	if err != nil {
		return nil
	}
	return traceMembers(v.Path("_meta"))
}
