package dual

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/store"
	dualcode "github.com/candor-mcp/candor/codes/dual"
	"github.com/candor-mcp/candor/internal/wireflaw"
	"github.com/candor-mcp/candor/wire"
)

// failure returns an error of a tool. An empty message is replaced by the message of the code.
func failure(code candor.Code, message string, details map[string]any) *candor.Error {
	o := []candor.Option{candor.WithOrigin(candor.PartyTool, false)}
	if details != nil {
		o = append(o, candor.WithDetails(details))
	}
	return candor.New(code, message, o...)
}

// issue is a wrong argument in the details of INVALID_PARAMS.
type issue struct {
	Path    string `json:"path"` // a JSON pointer
	Message string `json:"message"`
}

// invalid is the error for an argument that the schema accepts and the state of the server does not.
func invalid(path, message string) *candor.Error {
	return failure(dualcode.InvalidParams, "The parameters of the tool are not valid: "+path+": "+message+".", map[string]any{"issues": []issue{{"/" + path, message}}})
}

// storeFailure adds a code to an error of a tool. A *candor.Error and a context error are returned unchanged. Any other
// error is an internal error, regardless of its type, because no argument caused it.
func storeFailure(err error) error {
	var already *candor.Error
	var damaged *store.DamagedError
	switch {
	case errors.As(err, &already):
		return already
	case errors.As(err, &damaged):
		return damagedFailure(damaged)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, store.ErrBusy):
		return candor.New(dualcode.DBBusy, "", candor.WithCause(err))
	case errors.Is(err, store.ErrFull):
		return candor.New(dualcode.DBFull, "", candor.WithCause(err))
	case errors.Is(err, store.ErrGone):
		return failure(dualcode.HandlerError, "The file of the database was removed or replaced while the server runs. Restore it and start the server again; nothing was changed.", nil)
	case errors.Is(err, store.ErrUnique):
		return candor.New(dualcode.UniqueViolation, "", candor.WithCause(err))
	}
	return candor.New(candor.CodeInternalError, "", candor.WithCause(err)) // which refine turns into HANDLER_ERROR without its cause
}

// damagedFailure is the error for a call that needs a damaged row.
func damagedFailure(e *store.DamagedError) *candor.Error {
	return failure(dualcode.HandlerError, "The database is damaged: "+e.Error()+".", map[string]any{"table": e.Table, "row": e.Row, "reason": e.Reason}).
		With(candor.WithRetry(candor.NoRetry()), candor.WithSuggestion("Ask the operator to restore the row from a backup. Other rows can be used."))
}

// checkText refuses unpaired surrogates, which are not characters and which decoding would silently replace.
func checkText(arguments json.RawMessage) error {
	if !bytes.Contains(arguments, []byte(`\u`)) {
		return nil
	}
	_, err := wire.ParseValue(arguments, wire.Limits{MaxBytes: len(arguments)})
	var at wire.Malformation
	if !errors.As(err, &at) || at.Flaw != wireflaw.LoneSurrogate {
		return nil
	}
	return failure(dualcode.InvalidParams, "The arguments hold half of a surrogate pair, which is not a character.",
		map[string]any{"issues": []issue{{"", "a \\u escape is half of a surrogate pair"}}, "offset": at.Offset})
}

// refine replaces the codes of boundary failures by codes of this system.
func refine(c *workbench.Call, e *candor.Error) *candor.Error {
	switch e.Code() {
	case candor.CodeInvalidArguments:
		return workbench.Recode(e, dualcode.InvalidParams, e.Message())
	case candor.CodeInternalError:
		return c.HideCause(workbench.Recode(e, dualcode.HandlerError, ""))
	default:
		return nil
	}
}
