package line

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/common"
	"github.com/candor-mcp/candor/internal/similar"
)

// Call runs one method for a transport that has validated the parameters, and returns its result as JSON, or the error. It
// does not record or count the error: the caller does so when it sends it. Only the counters of sys/metrics are updated
// here.
//
// Call returns at the deadline even if the method does not.
func (s *Server) Call(ctx context.Context, name string, params json.RawMessage) (json.RawMessage, *candor.Error) {
	m, e := s.find(name)
	if e != nil {
		return nil, e
	}
	return s.call(ctx, m, params, s.limit(m))
}

// find returns the method with a name, or an error that suggests an alternative.
func (s *Server) find(name string) (*method, *candor.Error) {
	if m := s.methods[name]; m != nil {
		return m, nil
	}
	prefix, _, _ := strings.Cut(name, "/")
	for _, off := range s.o.Disabled {
		if off.Prefix == prefix {
			return nil, candor.New(common.Unsupported, "", byServer, candor.WithDetails(off.Hint),
				candor.WithSuggestion("Use one of the methods that the server lists, or ask the operator to switch the domain on."))
		}
	}
	e := candor.New(candor.CodeMethodNotFound, "", byServer)
	if names := similar.Names(name, s.names); len(names) > 0 {
		e = e.With(candor.WithDetails(map[string]any{"didYouMean": names}))
	}
	return nil, e
}

const (
	lateness     = 200 * time.Millisecond // extra time for a method after its deadline, because it can report its state better
	maxAbandoned = 256
)

// call runs a method, unless it is refused. After the deadline it returns even if the method does not.
func (s *Server) call(ctx context.Context, m *method, params []byte, refused *candor.Error) (result json.RawMessage, e *candor.Error) {
	m.calls.Add(1)
	if e = refused; e == nil {
		result, e = s.outcome(ctx, m, params)
	}
	if e != nil {
		m.errors.Add(1)
	}
	return result, e
}

func (s *Server) outcome(ctx context.Context, m *method, params []byte) (json.RawMessage, *candor.Error) {
	if m.exempt { // it never waits
		done := make(chan outcome, 1)
		s.run(ctx, m, params, done)
		o := <-done
		if o.err != nil {
			return nil, s.failure(ctx, o)
		}
		return o.result, nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.o.Timeout)
	defer cancel()
	done := make(chan outcome, 1)
	go s.run(ctx, m, params, done)
	var o outcome
	select {
	case o = <-done:
	case <-ctx.Done():
		select {
		case o = <-done:
		case <-time.After(lateness):
			s.abandoned.Add(1)
			go func() {
				<-done
				s.abandoned.Add(-1)
			}()
			o.err = ctx.Err()
		}
	}
	if o.err != nil {
		return nil, s.failure(ctx, o)
	}
	return o.result, nil
}

// refuse returns why a method is not run, nil if it is.
func (s *Server) refuse(m *method, params []byte) *candor.Error {
	if e := s.limit(m); e != nil {
		return e
	}
	if last := m.refused.Load(); last != nil && string(params) == last.params {
		return last.err
	}
	e := checkParams(m, params)
	if e != nil && len(params) <= maxRemembered {
		m.refused.Store(&refusal{string(params), e})
	}
	return e
}

// refusal is the error for invalid parameters. The last one of each method is kept, because clients that fail in a loop send the same call
// again and again, and explaining it takes longer than all else.
type refusal struct {
	params string
	err    *candor.Error
}

// maxRemembered is the length of the longest parameters that are kept.
const maxRemembered = 1024

// limit returns the error of a call that comes too early, nil if it may run.
func (s *Server) limit(m *method) *candor.Error {
	if e := s.checkRate(m); e != nil {
		return e
	}
	if s.abandoned.Load() >= maxAbandoned {
		return candor.New(common.LimitExceeded, "", byServer,
			candor.WithDetails("too many calls still run after their deadline"), candor.WithRetry(candor.RetryIn(time.Second)))
	}
	return nil
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
	details, beside := map[string]any{"value": terseIssues(report.Issues), "issues": report.Issues}, []string{"issues"} // in the form of Terse
	if !report.Template.IsZero() {
		details["correctTemplate"], beside = report.Template, append(beside, "correctTemplate")
	}
	if report.More > 0 {
		details["moreIssues"], beside = report.More, append(beside, "moreIssues")
	}
	details["beside"] = beside
	return candor.New(common.InvalidParams, "", byServer, candor.WithDetails(details))
}

// Refuse counts a failed call whose parameters the transport has found invalid. It returns the error that takes
// precedence, such as that of the rate limit, or nil.
func (s *Server) Refuse(name string) *candor.Error {
	m, e := s.find(name)
	if e != nil {
		return e
	}
	m.calls.Add(1)
	m.errors.Add(1)
	return s.limit(m)
}
