package line

import (
	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/record"
	"github.com/candor-mcp/candor/wire"
)

var (
	byServer = candor.WithOrigin(candor.PartyServer, false)
	rpc      = dialect.Must("rpc")
	nullID   = wire.ID("null")
)

// fail records a failure, counts it and returns the response, nil if the request is silent.
func (c *conn) fail(r *request, verdict contract.Verdict, e *candor.Error) []byte {
	recorder := record.Recorder{By: candor.PartyServer, Logger: c.s.o.Logger, Now: c.s.o.Now, Ref: c.s.ref, Gone: &c.left}
	if c.s.o.Recorder != nil {
		recorder.Ledger = c.s.o.Recorder
	}
	if c.s.o.Meter != nil {
		recorder.Meter = c.s.o.Meter
	}
	site := record.CallSite{Trusted: true}
	if r.method != nil {
		site.Tool = r.name
	}
	e = recorder.Stamp(e, site)
	var response []byte
	if !r.silent {
		response = c.encodeError(r.id, e)
	}
	failure := candor.Failure{Error: e, Verdict: string(verdict), Method: r.name, Arguments: r.params, Sent: response}
	instead := recorder.Record(c.context(r), &failure)
	r.ended(e)
	if instead != nil && !r.silent {
		return c.encodeError(r.id, instead)
	}
	return response
}

func (c *conn) encodeError(id wire.ID, e *candor.Error) []byte {
	if !writable(id) {
		id = nullID
	}
	return rpc.Write(nil, Terse(c.s.Shown(e)), dialect.Options{ID: id, Stack: c.s.o.Stack})
}

// writable reports whether an id can be used in a response: it was decoded, and it is not a string with an unpaired
// surrogate, which many readers refuse.
func writable(id wire.ID) bool {
	if id == nil {
		return false
	}
	_, err := wire.ParseValue(id, wire.Limits{MaxDepth: 1})
	return err == nil
}

// Shown returns the error as a client may see it: without the text of its cause, except in development.
func (s *Server) Shown(e *candor.Error) *candor.Error {
	cause := e.Cause()
	switch {
	case cause.IsZero():
		return e
	case !s.o.Development:
		return e.With(candor.WithCauseText(candor.Cause{}))
	case e.Details().IsZero():
		return e.With(candor.WithDetails(cause.Message))
	default:
		return e
	}
}
