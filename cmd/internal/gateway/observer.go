package gateway

import (
	"net/http"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/record"
	"github.com/candor-mcp/candor/wire"
)

// Observer is notified of every call that ends, and of every failure that belongs to no call. Its method is called from many
// goroutines, after the failure was recorded and before the answer is sent, so it must not block. It must not retain the Ending.
type Observer interface {
	CallEnded(e *Ending)
}

// OutcomeSuccess is the outcome of a call that did not fail. The other outcomes are the verdicts of the contract, and
// [record.OutcomeSuspected].
const OutcomeSuccess = "success"

// Ending describes the end of a call.
type Ending struct {
	candor.Failure // Error is nil after a success; Method is "" if the failure belongs to no call

	Tool    string // for tools/call
	Session string
	Request *wire.Message // the client's message; its bytes are empty if the failure belongs to no call
	Trace   Trace         // of the HTTP request

	IsCall     bool // it is one of [Upstream.Calls]; otherwise only a failure
	Began      time.Time
	Ended      time.Time
	Silent     bool // nothing is sent
	Unrecorded bool // the ledger failed, and Error is the error that is sent instead
}

// Outcome returns the outcome of the call.
func (e *Ending) Outcome() string {
	if e.Error == nil {
		return OutcomeSuccess
	}
	return record.Outcome(&e.Failure)
}

// Trace has the headers of an HTTP request that identify a trace. The zero Trace is none.
type Trace struct{ Parent, State string }

// TraceOf returns the trace in the headers of a request, or none if the upstream has no observer.
func (u *Upstream) TraceOf(h http.Header) Trace {
	if u.Options.Observer == nil {
		return Trace{}
	}
	return Trace{Parent: h.Get("Traceparent"), State: h.Get("Tracestate")}
}

// observe reports the end of a call to the observer. F is nil after a success; instead is the error that is sent if the ledger
// failed, otherwise nil.
func (c *Call) observe(f *candor.Failure, instead *candor.Error) {
	o := &c.up.Options
	if o.Observer == nil || f != nil && f.Retried {
		return
	}
	e := Ending{
		Failure: candor.Failure{Method: c.method, Upstream: c.up.Name(), Attempt: c.attempt},
		Tool:    c.tool, Session: c.session, Request: &c.request, Trace: c.trace, IsCall: c.opened, Began: c.began, Ended: o.Now(),
	}
	if f != nil {
		e.Failure, e.Silent = *f, f.Sent == nil || c.gone.Load()
	}
	if instead != nil {
		e.Error, e.Unrecorded = instead, true
	}
	o.Observer.CallEnded(&e)
}
