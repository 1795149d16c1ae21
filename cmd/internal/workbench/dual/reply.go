package dual

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/store"
	dualcode "github.com/candor-mcp/candor/codes/dual"
)

// patternB has the tools that return their domain failures as data. The others throw them.
var patternB = map[string]bool{
	"task_create": true, "task_get": true, "task_update": true, "task_list": true, "task_next_actions": true,
	"audit_session_start": true, "merkle_finalize": true, "merkle_root": true,
}

// PatternOf returns the pattern of a tool's failures, for the dialect. A tool of pattern B returns only codes that
// begin with ERR_ as data; other failures are thrown, as for any tool.
func PatternOf(tool string) byte {
	if patternB[tool] {
		return 0
	}
	return 'A'
}

// handle returns a Run function for a function that returns the data of a success.
func handle[In any](run func(ctx context.Context, c *workbench.Call, in In) (any, error)) func(context.Context, *workbench.Call) (workbench.Reply, error) {
	return workbench.Handle(func(ctx context.Context, c *workbench.Call, in In) (workbench.Reply, error) {
		data, err := run(ctx, c, in)
		if err != nil {
			return workbench.Reply{}, storeFailure(err)
		}
		return success(data)
	})
}

// query completes a tool that only reads the database.
func query[In any](s *System, t workbench.Tool, read func(tx *store.Tx, in In) (any, error)) workbench.Tool {
	t.ReadOnly, t.Idempotent = true, true
	t.Codes = append(t.Codes, dualcode.DBBusy)
	t.Run = handle(func(ctx context.Context, _ *workbench.Call, in In) (any, error) {
		return store.Get(ctx, s.store, func(tx *store.Tx) (any, error) { return read(tx, in) })
	})
	return t
}

// success returns the envelope {"ok":true,"data":…}, as text and as structured content.
func success(data any) (workbench.Reply, error) {
	envelope, err := encode(struct {
		OK   bool `json:"ok"`
		Data any  `json:"data"`
	}{true, data})
	if err != nil {
		return workbench.Reply{}, err
	}
	return workbench.Reply{Text: []string{string(envelope)}, Data: envelope}, nil
}

// encode returns JSON without HTML escapes.
func encode(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// failure returns an error of a tool. An empty message is replaced by the message of the code.
func failure(code candor.Code, message string, details map[string]any) *candor.Error {
	o := []candor.Option{candor.WithOrigin(candor.PartyTool, false)}
	if details != nil {
		o = append(o, candor.WithDetails(details))
	}
	return candor.New(code, message, o...)
}

// advised is [failure] with the next step in place of that of the code.
func advised(code candor.Code, message, step string, details map[string]any) *candor.Error {
	return failure(code, message, details).With(candor.WithSuggestion(step))
}

// invalid is the error for an argument that the schema accepts and the tool does not. expected is what it accepts, as JSON Schema.
func invalid(path, message string, expected map[string]any) *candor.Error {
	return candor.New(dualcode.InvalidParams, "", candor.WithOrigin(candor.PartyTool, false),
		candor.WithIssues(candor.Issue{Path: "/" + path, Rule: "accepted", Message: message, Expected: expected}))
}

// notBlank is what a text has to match that must show something.
var notBlank = map[string]any{"pattern": `\S`}

// storeFailure adds a code to an error of a tool. A *candor.Error and a context error are returned unchanged. Any other
// error is an internal error, regardless of its type, because no argument caused it.
func storeFailure(err error) error {
	var already *candor.Error
	switch {
	case errors.As(err, &already):
		return already
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, store.ErrBusy):
		return candor.New(dualcode.DBBusy, "", candor.WithCause(err))
	case errors.Is(err, store.ErrFull):
		return candor.New(dualcode.DBFull, "", candor.WithCause(err))
	case errors.Is(err, store.ErrGone):
		return advised(dualcode.HandlerError, "A file of the database was removed or replaced while the server runs: "+store.FileName+", its -wal or its -shm. This call changed nothing.",
			"Tell the operator to put the file back, or to end the server with SIGTERM, which saves what it holds, and to start it again.", nil)
	case errors.Is(err, store.ErrUnique):
		return candor.New(dualcode.UniqueViolation, "", candor.WithCause(err))
	}
	return candor.New(candor.CodeInternalError, "", candor.WithCause(err)) // which refine turns into HANDLER_ERROR without its cause
}

// refine replaces the codes of boundary failures by codes of this system.
func refine(c *workbench.Call, e *candor.Error) *candor.Error {
	switch e.Code() {
	case candor.CodeInvalidArguments:
		return workbench.Recode(e, dualcode.InvalidParams, "")
	case candor.CodeInternalError:
		return c.HideCause(workbench.Recode(e, dualcode.HandlerError, ""))
	default:
		return nil
	}
}

// drills are handler failures that a caller cannot cause. They are handled like any other failure.
var drills = map[string]func(ctx context.Context) error{
	"panic": func(context.Context) error { panic(errors.New("the drill panicked")) }, //nolint:forbidigo // that is the drill
	"error": func(context.Context) error { return errors.New("the drill returned an error") },
	"hold": func(ctx context.Context) error { // holds the lock of the tool
		select {
		case <-time.After(time.Minute):
		case <-ctx.Done():
		}
		return ctx.Err()
	},
}

func drill() workbench.Tool { return workbench.Drill(drills, dualcode.HandlerError) }
