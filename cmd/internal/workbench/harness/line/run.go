package line

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/common"
	"github.com/candor-mcp/candor/internal/framing"
	"github.com/candor-mcp/candor/wire"
)

// outcome is the outcome of a method.
type outcome struct {
	result json.RawMessage
	err    error
	stack  string // of a panic
}

var errGoexit = errors.New("the method ended its goroutine")

// run executes a method and sends its outcome, even if the method panics or ends its goroutine.
func (s *Server) run(ctx context.Context, m *method, params []byte, done chan<- outcome) {
	o := outcome{err: errGoexit}
	defer func() {
		if v := recover(); v != nil {
			o = outcome{err: fmt.Errorf("panic: %v", v), stack: panicStack()}
		}
		done <- o
	}()
	value, err := m.Run(ctx, params)
	if err != nil {
		o = outcome{err: err}
		return
	}
	result, err := s.encode(value)
	o = outcome{result: result, err: err}
}

// encode encodes a result as JSON without line breaks.
func (s *Server) encode(value any) (text json.RawMessage, err error) {
	text, raw := value.(json.RawMessage)
	if !raw {
		text, err = json.Marshal(value)
	} else if _, flaw := wire.ParseValue(text, wire.Limits{MaxBytes: len(text) + 1}); flaw != nil {
		err = errors.New("not one JSON value")
	}
	if err != nil {
		return nil, candor.New(candor.CodeResultNotEncodable, "", byServer, candor.WithCause(err))
	}
	if len(text) > s.o.MaxResult {
		return nil, candor.New(common.LimitExceeded, "", byServer,
			candor.WithDetails(fmt.Sprintf("the result has %d bytes, more than the limit of %d", len(text), s.o.MaxResult)))
	}
	if raw && bytes.ContainsAny(text, "\r\n") {
		text = bytes.TrimSuffix(framing.AppendLine(nil, text), []byte("\n"))
	}
	return text, nil
}

// failure returns the error for an outcome. An error without a code becomes INTERNAL_ERROR, and only the operator sees
// its text.
func (s *Server) failure(ctx context.Context, o outcome) *candor.Error {
	if e, ok := errors.AsType[*candor.Error](o.err); ok && e != nil && e.Code().Valid() {
		return e
	}
	code := candor.CodeInternalError
	switch {
	case o.stack != "" || errors.Is(o.err, errGoexit):
	case errors.Is(o.err, context.DeadlineExceeded) && errors.Is(ctx.Err(), context.DeadlineExceeded):
		code = common.Timeout
	case errors.Is(o.err, context.Canceled) && ctx.Err() != nil:
		code = candor.CodeCancelled
	}
	return candor.New(code, "", byServer, candor.WithCause(o.err), candor.WithStack(o.stack))
}

const maxFrames = 64

// panicStack returns the stack of a panic without the frames of the harness. It must be called by the function that has
// recovered.
func panicStack() string {
	var pcs [maxFrames]uintptr
	return candor.StackPolicy{Debug: true}.Frames(pcs[:runtime.Callers(3, pcs[:])])
}
