package workrail_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/testing/servertest"
	"github.com/candor-mcp/candor/wire"
)

// binary is the path of the shipped program. The tests of this package use it only as clients do.
var binary string

func TestMain(m *testing.M) {
	if dir := os.Getenv(holdEnv); dir != "" {
		fmt.Fprintln(os.Stderr, holdLock(dir))
		os.Exit(1)
	}
	servertest.Main(m, &binary, 8, "W10|Every.*Has") // only these tests run calls in parallel
}

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
	p.last = s
	return s
}

// call calls a tool. The arguments are encoded as JSON.
func (s *server) call(tool string, in any) answer {
	s.T.Helper()
	return answer{s.Call(tool, in)}
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
type answer struct{ servertest.Answer }

func (a answer) failed() bool { return servertest.Failed(a.M) }

// fine requires a success.
func (a answer) fine() answer {
	a.T.Helper()
	if a.failed() {
		a.T.Fatalf("it failed: %s", a.M.Bytes())
	}
	return a
}

// envelope returns the error in the form of the dialect.
func (a answer) envelope() wire.Value {
	a.T.Helper()
	return servertest.Envelope(a.T, a.M)
}

// is requires a failure with a code.
func (a answer) is(code string) answer {
	a.T.Helper()
	a.Check(code)
	return a
}

// data returns a string of the structured content.
func (a answer) data(path ...any) string {
	text, _ := a.M.Result().Path(append([]any{"structuredContent"}, path...)...).Str()
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
	a.T.Helper()
	a.fine()
	if got := a.data("kind"); got != want {
		a.T.Fatalf("the answer is %q, want %q: %.1500s", got, want, a.M.Bytes())
	}
	return a
}
