package workbench

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/ledger"
)

// Call is one tools/call request.
type Call struct {
	Name      string // the requested tool name
	Tool      *Tool  // nil if the system has no such tool
	ID        string // connects the entries of the call in the trail
	Session   *Session
	Stray     bool // the call names an unknown session, or one that its connection does not have
	Arguments json.RawMessage

	bench    *Bench
	client   *mcp.ServerSession
	acquired *Session // to be released when the call ends
	conn     string   // the connection; "" if it does not outlast the call
	start    time.Time

	enterErr  error         // why the enter entry could not be written
	gated     bool          // the system's gate was called
	refused   *candor.Error // the gate's refusal
	ran       bool          // the tool was called
	notified  bool          // System.Failed was called
	failure   *candor.Error // as sent
	hidden    candor.Cause  // the cause of the failure, for the trail only
	open      int           // reserved effects that have not ended
	effective bool          // the trail records that the effect happened
	revert    func()        // undoes the call, for an effect that is not reserved
}

type callKey struct{}

func callOf(ctx context.Context) *Call {
	c, _ := ctx.Value(callKey{}).(*Call)
	return c
}

// newID returns an unguessable identifier.
func newID() string {
	var random [12]byte
	_, _ = rand.Read(random[:]) // never fails, see crypto/rand
	return hex.EncodeToString(random[:])
}

// Bench returns the bench that handles the call.
func (c *Call) Bench() *Bench { return c.bench }

// CanAsk reports whether the client can ask its user, by elicitation in the revisions of the protocol in which a server
// sends requests.
func (c *Call) CanAsk() bool {
	if c.client == nil || c.conn == "" {
		return false
	}
	p := c.client.InitializeParams()
	return p != nil && p.ProtocolVersion < "2026" && p.Capabilities != nil && p.Capabilities.Elicitation != nil &&
		(p.Capabilities.Elicitation.Form != nil || p.Capabilities.Elicitation.URL == nil)
}

// waitForUser limits the wait for the answer of a user.
const waitForUser = 10 * time.Minute

// Ask asks the client's user a question. schema is the JSON Schema of the answer: a boolean, number or string. The result is
// nil if the user gives no answer.
func (c *Call) Ask(ctx context.Context, question string, schema map[string]any) any {
	ctx, cancel := context.WithTimeout(ctx, waitForUser)
	defer cancel()
	result, err := c.client.Elicit(ctx, &mcp.ElicitParams{Message: question, RequestedSchema: map[string]any{
		"type": "object", "properties": map[string]any{"answer": schema}, "required": []string{"answer"},
	}})
	if err != nil {
		c.bench.log.Warn("asking the user of the client", slog.Any("error", err))
		return nil
	}
	answer := result.Content["answer"]
	if text, ok := answer.(string); result.Action != "accept" || ok && strings.TrimSpace(text) == "" {
		return nil
	}
	return answer
}

// ErrSessionOpen is the error of [Call.Begin] if the connection already has a session, possibly from a concurrent call.
var ErrSessionOpen = errors.New("the connection has a session")

// Begin stores a session with the system's value and makes it the session of this call and of later calls on its
// connection. bound is false if the connection does not outlast the call; the client must then name the session in each
// call. If the exit entry of the call cannot be written, the session is removed. The error is [ErrSessionOpen],
// TOO_MANY_SESSIONS or a file system error.
func (c *Call) Begin(s *Session, value any) (bound bool, err error) {
	if err := c.bench.sessions.begin(c.conn, s, value); err != nil {
		return false, err
	}
	c.Session = s
	c.revert = func() {
		c.bench.sessions.end(c.conn, s)
		c.Session = nil
	}
	return c.conn != "", nil
}

// HideCause returns e without the text of its cause, which only the trail gets.
func (c *Call) HideCause(e *candor.Error) *candor.Error {
	c.hidden = e.Cause()
	return e.With(candor.WithCauseText(candor.Cause{}))
}

// Entry returns a new entry of this call.
func (c *Call) Entry(kind ledger.Kind) ledger.Entry {
	e := ledger.Entry{Kind: kind, Call: c.ID, Tool: c.Name}
	if s := c.Session; s != nil {
		e.SessionID, e.Role, e.WorkspaceRoot = s.ID, s.Role, s.Root
	}
	return e
}

// Reserve records that an effect is about to happen. If it returns an error, AUDIT_LOG_FAILED or AUDIT_LOCK_FAILED, the effect must not happen.
func (c *Call) Reserve(ctx context.Context, plan string, about map[string]any) (*Effect, error) {
	e := c.Entry(ledger.KindReserve)
	e.PlanHash, e.Data = plan, candor.DetailsOf(about)
	opened, err := c.bench.trail.reserve(ctx, e)
	if err != nil {
		return nil, err
	}
	c.open++
	return &Effect{call: c, opened: opened, plan: plan}, nil
}

// Effect is a reserved effect.
type Effect struct {
	call   *Call
	opened *ledger.Effect // nil without a trail
	plan   string
}

// Complete records the end of the effect; failed is nil for success. It must be called once. If it returns an error, the
// trail does not record how the effect ended.
func (f *Effect) Complete(ctx context.Context, failed error, about map[string]any) error {
	f.call.open--
	if f.opened == nil {
		return nil
	}
	e := f.call.Entry(ledger.KindComplete)
	e.PlanHash, e.Outcome, e.Data = f.plan, ledger.OutcomeOK, candor.DetailsOf(about)
	if failed != nil {
		e.Outcome, e.Code = ledger.OutcomeError, candor.CodeOf(failed)
	}
	_, err := f.opened.Complete(ctx, e)
	f.call.effective = f.call.effective || err == nil && failed == nil
	return err
}
