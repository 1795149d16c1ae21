package servertest

import (
	"testing"

	"github.com/candor-mcp/candor/wire"
)

// Answer is the response to a call of a tool.
type Answer struct {
	T testing.TB
	M *wire.Message
}

// Call calls a tool. The arguments are encoded as JSON.
func (s *Server) Call(tool string, arguments any) Answer {
	s.T.Helper()
	m := s.Ask("tools/call", CallParams(s.T, tool, arguments))
	return Answer{s.T, &m}
}

// Canonical returns the whole error; it is absent for a success.
func (a Answer) Canonical() wire.Value { return Canonical(a.M) }

// Code returns the code of a failure; "" is a success.
func (a Answer) Code() string {
	code, _ := a.Canonical().Path("code").Str()
	return code
}

// Check requires a failure with a code.
func (a Answer) Check(code string) {
	a.T.Helper()
	if got := a.Code(); got != code {
		a.T.Errorf("the code is %q, want %s: %.1500s", got, code, a.M.Bytes())
	}
}
