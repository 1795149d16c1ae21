package workrail_test

import (
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/testing/servertest"
	"github.com/candor-mcp/candor/wire"
)

type args = map[string]any

// server is the running program as a child process.
type server struct{ *servertest.Server }

// start starts a server on the state of p and makes the handshake.
func (p *place) start(flags ...string) *server {
	p.t.Helper()
	line := append([]string{"workbench", "workrail", "--state", p.state, "--ledger", "none"}, append(flags, p.flags...)...)
	s := &server{servertest.Command(p.t, binary, line...)}
	s.Cmd.Env = append(s.Cmd.Env, p.env...)
	if p.wrap != nil {
		p.wrap(s.Cmd)
	}
	s.Start()
	return s
}

// call calls a tool. The arguments are encoded as JSON.
func (s *server) call(tool string, in any) answer {
	s.T.Helper()
	m := s.Ask("tools/call", servertest.CallParams(s.T, tool, in))
	return answer{s.T, &m}
}

// begin starts a workflow and returns the answer.
func (s *server) begin(workflow string, context args) answer {
	s.T.Helper()
	if context == nil {
		context = args{}
	}
	return s.call("start_workflow", args{"workflowId": workflow, "context": context}).fine()
}

// answer is the response to a call.
type answer struct {
	t testing.TB
	m *wire.Message
}

func (a answer) failed() bool { return servertest.Failed(a.m) }

// fine requires a success.
func (a answer) fine() answer {
	a.t.Helper()
	if a.failed() {
		a.t.Fatalf("it failed: %s", a.m.Bytes())
	}
	return a
}

// canonical returns the whole error.
func (a answer) canonical() wire.Value { return servertest.Canonical(a.m) }

// envelope returns the error in the form of the dialect.
func (a answer) envelope() wire.Value {
	a.t.Helper()
	return servertest.Envelope(a.t, a.m)
}

// code returns the code of a failure; "" is a success.
func (a answer) code() string {
	code, _ := a.canonical().Path("code").Str()
	return code
}

// is requires a failure with a code.
func (a answer) is(code string) answer {
	a.t.Helper()
	if got := a.code(); got != code {
		a.t.Errorf("the code is %q, want %s: %.1500s", got, code, a.m.Bytes())
	}
	return a
}

// data returns a string of the structured content.
func (a answer) data(path ...any) string {
	text, _ := a.m.Result().Path(append([]any{"structuredContent"}, path...)...).Str()
	return text
}

// detail returns a string of the details of a failure.
func (a answer) detail(path ...any) string {
	text, _ := a.envelope().Path(append([]any{"details"}, path...)...).Str()
	return text
}

// token returns the token to continue with.
func (a answer) token() string {
	if retry := a.data("retryContinueToken"); retry != "" {
		return retry
	}
	return a.data("continueToken")
}

// kind requires a success of a kind.
func (a answer) kind(want string) answer {
	a.t.Helper()
	a.fine()
	if got := a.data("kind"); got != want {
		a.t.Fatalf("the answer is %q, want %q: %.1500s", got, want, a.m.Bytes())
	}
	return a
}
