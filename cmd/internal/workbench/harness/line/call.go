package line

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/common"
	"github.com/candor-mcp/candor/internal/near"
)

// Call runs one method and returns its result as JSON, or the error. It does not record or count the error: the caller
// does so when it sends it. Only the counters of sys/metrics are updated here.
//
// Call returns at the deadline even if the method does not.
func (s *Server) Call(ctx context.Context, name string, params json.RawMessage) (json.RawMessage, *candor.Error) {
	m, e := s.find(name)
	if e != nil {
		return nil, e
	}
	return s.callMethod(ctx, m, params)
}

func (s *Server) callMethod(ctx context.Context, m *method, params []byte) (json.RawMessage, *candor.Error) {
	m.calls.Add(1)
	result, e := s.call(ctx, m, params)
	if e != nil {
		m.errors.Add(1)
	}
	return result, e
}

// find returns the method with a name, or an error that suggests an alternative.
func (s *Server) find(name string) (*method, *candor.Error) {
	if m := s.methods[name]; m != nil {
		return m, nil
	}
	prefix, _, _ := strings.Cut(name, "/")
	for _, off := range s.o.Disabled {
		if off.Prefix == prefix {
			return nil, candor.New(common.Unsupported, "", byServer, candor.WithDetails(off.Hint))
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

// await waits for the outcome of a call. After the end of ctx it waits a little longer, because a method that observes
// ctx can report its state better than the caller.
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
	lateness     = 200 * time.Millisecond // extra time for a method after its deadline
	maxAbandoned = 256
)

// abandon counts a call that continues after its deadline, until it returns.
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
		return candor.New(common.LimitExceeded, "", byServer,
			candor.WithDetails("too many calls still run after their deadline"), candor.WithRetry(candor.RetryIn(time.Second)))
	}
	return checkParams(m, params)
}

// checkParams returns E_INVALID_PARAMS with all problems of the parameters, nil if they are valid.
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
	return candor.New(common.InvalidParams, "", byServer,
		candor.WithDetails(details), candor.WithIssues(report.Issues...))
}

// Refuse is for a transport that validates parameters itself and has found them invalid. It counts the call as failed
// and returns the error that [Server.Call] would return; a rate limit error takes precedence over invalid parameters.
// It runs nothing. It returns nil if the parameters are valid.
func (s *Server) Refuse(name string, params json.RawMessage) *candor.Error {
	m, e := s.find(name)
	if e != nil {
		return e
	}
	if e = s.admit(m, params); e != nil {
		m.calls.Add(1)
		m.errors.Add(1)
	}
	return e
}
