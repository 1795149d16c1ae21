package dual

import (
	"errors"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/workbench"
	"github.com/candor-mcp/candor/workbench/dual/store"
)

// failure makes an error of a tool. An empty message is that of the code.
func failure(code candor.Code, message string, details map[string]any) *candor.Error {
	o := []candor.Option{candor.WithOrigin(candor.PartyTool, false)}
	if details != nil {
		o = append(o, candor.WithDetails(details))
	}
	return candor.New(code, message, o...)
}

// issue is a wrong argument, in the shape of the details of INVALID_PARAMS.
type issue struct {
	Path    string `json:"path"`
	Message string `json:"message"`
}

// invalid is the failure of an argument that the schema accepts and the state of the server does not.
func invalid(path, message string) *candor.Error {
	return failure(candor.CodeDualInvalidParams, "The parameters of the tool are not valid: "+path+": "+message+".", map[string]any{"issues": []issue{{path, message}}})
}

// storeFailure gives an error of the database its code. A *candor.Error stays.
func storeFailure(err error) error {
	var already *candor.Error
	switch {
	case errors.As(err, &already):
		return already
	case errors.Is(err, store.ErrBusy):
		return candor.New(candor.CodeDualDbBusy, "", candor.WithCause(err))
	case errors.Is(err, store.ErrFull):
		return candor.New(candor.CodeDualDbFull, "", candor.WithCause(err))
	case errors.Is(err, store.ErrUnique):
		return candor.New(candor.CodeDualUniqueViolation, "", candor.WithCause(err))
	}
	return err
}

// refine gives failures of the boundary the codes of this system.
func refine(c *workbench.Call, e *candor.Error) *candor.Error {
	switch e.Code() {
	case candor.CodeInvalidArguments:
		return workbench.Recode(e, candor.CodeDualInvalidParams, e.Message())
	case candor.CodeInternalError:
		return c.HideCause(workbench.Recode(e, candor.CodeDualHandlerError, ""))
	default:
		return nil
	}
}
