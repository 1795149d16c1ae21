package line

import (
	"context"
	"encoding/json"

	"github.com/candor-mcp/candor"
)

// Tracer observes calls. StartCall is called when a call begins; the function it returns is called when the call ends, with the failure
// or nil. The failure is recorded with the returned context.
type Tracer interface {
	StartCall(ctx context.Context, method, tool string, meta map[string]any) (context.Context, func(*candor.Error))
}

// trace has the observation of a call. The zero trace observes nothing.
type trace struct {
	ctx context.Context
	end func(*candor.Error)
}

// observe begins the observation of a request. Notifications and messages without a method are not calls.
func (c *conn) observe(r *request) {
	if c.s.o.Tracer == nil || r.silent || r.name == "" {
		return
	}
	var params struct {
		Meta map[string]any `json:"_meta"`
	}
	if len(r.params) > 0 && json.Unmarshal(r.params, &params) != nil {
		params.Meta = nil // the params are refused later
	}
	r.trace.ctx, r.trace.end = c.s.o.Tracer.StartCall(c.ctx, r.name, "", params.Meta)
}

// context returns the context in which the failure of a request is recorded.
func (c *conn) context(r *request) context.Context {
	if r.trace.ctx == nil {
		return c.ctx
	}
	return r.trace.ctx
}

// ended ends the observation of a request, with its failure or nil.
func (r *request) ended(e *candor.Error) {
	if r.trace.end != nil {
		r.trace.end(e)
	}
}
