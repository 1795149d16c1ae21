package line

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/near"
	"github.com/candor-mcp/candor/wire"
)

// Call runs one method and returns its result as JSON, or the error. It does not record or count the error: the caller does, when it
// sends it. Only the counters of sys/metrics are kept here.
//
// Call returns at the deadline even if the method does not.
func (s *Server) Call(ctx context.Context, name string, params json.RawMessage) (json.RawMessage, *candor.Error) {
	m, e := s.find(name)
	if e != nil {
		return nil, e
	}
	m.calls.Add(1)
	result, e := s.call(ctx, m, params)
	if e != nil {
		m.errors.Add(1)
	}
	return result, e
}

// find returns the method of that name, or the error that says what to do instead.
func (s *Server) find(name string) (*method, *candor.Error) {
	if m := s.methods[name]; m != nil {
		return m, nil
	}
	prefix, _, _ := strings.Cut(name, "/")
	for _, off := range s.o.Disabled {
		if off.Prefix == prefix {
			return nil, candor.New(candor.CodeCommonUnsupported, "", byServer, candor.WithDetails(off.Hint))
		}
	}
	e := candor.New(candor.CodeMethodNotFound, "", byServer)
	if names := near.Names(name, s.names); len(names) > 0 {
		e = e.With(candor.WithDetails(map[string]any{"didYouMean": names}))
	}
	return nil, e
}

func (s *Server) call(ctx context.Context, m *method, params []byte) (json.RawMessage, *candor.Error) {
	if e := s.admit(m, params); e != nil {
		return nil, e
	}
	ctx, cancel := context.WithTimeout(ctx, s.o.Timeout)
	defer cancel()
	done := make(chan outcome, 1)
	go func() { s.run(ctx, m, params, func(o outcome) { done <- o }) }()
	o, ok := await(ctx, done)
	if !ok {
		s.abandon(done)
		o.err = ctx.Err()
	}
	if o.err != nil {
		return nil, s.failure(ctx, o)
	}
	return o.result, nil
}

// await waits for the outcome of a call. After the end of ctx it waits a little longer: a method that watches ctx knows better than its
// caller what it was doing.
func await(ctx context.Context, done <-chan outcome) (o outcome, ok bool) {
	select {
	case o = <-done:
		return o, true
	case <-ctx.Done():
	}
	select {
	case o = <-done:
		return o, true
	case <-time.After(lateness):
		return outcome{}, false
	}
}

const (
	lateness     = 200 * time.Millisecond // given to a method after its deadline
	maxAbandoned = 256
)

// abandon counts a call that goes on after its deadline, until it returns.
func (s *Server) abandon(done <-chan outcome) {
	s.abandoned.Add(1)
	go func() {
		<-done
		s.abandoned.Add(-1)
	}()
}

// admit returns why a call may not run, nil if it may.
func (s *Server) admit(m *method, params []byte) *candor.Error {
	if e := s.checkRate(m); e != nil {
		return e
	}
	if s.abandoned.Load() >= maxAbandoned {
		return candor.New(candor.CodeCommonLimitExceeded, "", byServer,
			candor.WithDetails("too many calls still run after their deadline"), candor.WithRetry(candor.RetryIn(time.Second)))
	}
	return checkParams(m, params)
}

// checkParams returns E_INVALID_PARAMS with everything that is wrong with the parameters, nil if they fit.
func checkParams(m *method, params []byte) *candor.Error {
	if m.schema.Accepts(params) {
		return nil
	}
	report := m.schema.Explain(params)
	if report.OK() {
		return nil
	}
	details := map[string]any{}
	if !report.Template.IsZero() {
		details["correctTemplate"] = report.Template
	}
	if report.More > 0 {
		details["moreIssues"] = report.More
	}
	return candor.New(candor.CodeCommonInvalidParams, "", byServer,
		candor.WithDetails(details), candor.WithIssues(report.Issues...))
}

// outcome is how a method ended.
type outcome struct {
	result json.RawMessage
	err    error
	stack  string // of a panic
}

var errGoexit = errors.New("the method ended its goroutine")

// run executes a method and passes its outcome to done, also if it panics or ends its goroutine.
func (s *Server) run(ctx context.Context, m *method, params []byte, done func(outcome)) {
	o := outcome{err: errGoexit}
	defer func() {
		if v := recover(); v != nil {
			o = outcome{err: fmt.Errorf("panic: %v", v), stack: panicStack()}
		}
		done(o)
	}()
	value, err := m.Run(ctx, params)
	if err == nil {
		value, err = s.encode(value)
	}
	result, _ := value.(json.RawMessage)
	o = outcome{result: result, err: err}
}

// encode writes a result on one line of JSON.
func (s *Server) encode(value any) (any, error) {
	text, raw := value.(json.RawMessage)
	if !raw {
		var err error
		if text, err = json.Marshal(value); err != nil {
			return nil, candor.New(candor.CodeResultNotEncodable, "", byServer, candor.WithCause(err))
		}
	}
	if len(text) > s.o.MaxResult {
		return nil, candor.New(candor.CodeCommonLimitExceeded, "", byServer,
			candor.WithDetails(fmt.Sprintf("the result has %d bytes, more than the limit of %d", len(text), s.o.MaxResult)))
	}
	if !raw {
		return json.RawMessage(text), nil
	}
	if !wire.Valid(text, wire.Limits{MaxBytes: s.o.MaxResult}) {
		return nil, candor.New(candor.CodeResultNotEncodable, "", byServer)
	}
	if bytes.ContainsAny(text, "\r\n") {
		text = bytes.TrimSuffix(wire.AppendLine(nil, text), []byte("\n"))
	}
	return text, nil
}

// failure makes an error of an outcome. An error without a code is INTERNAL_ERROR, and its text is for the operator only.
func (s *Server) failure(ctx context.Context, o outcome) *candor.Error {
	if e, ok := errors.AsType[*candor.Error](o.err); ok && e != nil && e.Code().Valid() {
		return e
	}
	code := candor.CodeInternalError
	switch {
	case o.stack != "" || errors.Is(o.err, errGoexit):
	case errors.Is(o.err, context.DeadlineExceeded) && errors.Is(ctx.Err(), context.DeadlineExceeded):
		code = candor.CodeCommonTimeout
	case errors.Is(o.err, context.Canceled) && ctx.Err() != nil:
		code = candor.CodeCancelled
	}
	return candor.New(code, "", byServer, candor.WithCause(o.err), candor.WithStack(o.stack))
}

const maxFrames = 64

// panicStack returns the stack of a panic without the frames of the harness. It must be called by the function that has recovered.
func panicStack() string {
	var pcs [maxFrames]uintptr
	return candor.StackPolicy{Debug: true}.Frames(pcs[:runtime.Callers(3, pcs[:])])
}
