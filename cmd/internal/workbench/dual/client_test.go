package dual_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/sqlitedb"
	"github.com/candor-mcp/candor/cmd/internal/testing/servertest"
	"github.com/candor-mcp/candor/wire"
)

type args = map[string]any

// binary is the path of the shipped program. The tests of this package use it only as clients do.
var binary string

func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == upstreamArg {
		serveAsUpstream(os.Args[2], os.Args[3])
		return
	}
	servertest.Main(m, &binary, 6, "D13|D11") // only these tests run calls in parallel
}

// place is the state directory of servers, with a database and a trail.
type place struct {
	t     testing.TB
	state string
	flags []string        // for every server
	wrap  func(*exec.Cmd) // changes how servers are started; nil does nothing
}

func newPlace(t testing.TB, flags ...string) *place {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return &place{t: t, state: filepath.Join(home, "state"), flags: flags}
}

// trail returns the directory of the ledger.
func (p *place) trail() string { return filepath.Join(p.state, "ledger") }

// sql changes the database directly, without the server.
func (p *place) sql(statement string, values ...any) {
	p.t.Helper()
	db, err := sqlitedb.Open(filepath.Join(p.state, "dual.db"), sqlitedb.Options{})
	if err != nil {
		p.t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // the statement has its own error
	result, err := db.Exec(statement, values...)
	if err != nil {
		p.t.Fatalf("%s: %v", statement, err)
	}
	if n, _ := result.RowsAffected(); n == 0 {
		p.t.Fatalf("%s changes nothing", statement)
	}
}

// hold keeps the write lock of the database until the returned function is called.
func (p *place) hold() (release func()) {
	p.t.Helper()
	db, err := sqlitedb.Open(filepath.Join(p.state, "dual.db"), sqlitedb.Options{})
	if err != nil {
		p.t.Fatal(err)
	}
	tx, err := db.Begin()
	if err != nil {
		p.t.Fatal(err)
	}
	return func() {
		_ = tx.Rollback()
		_ = db.Close()
	}
}

// server is the running program as a child process. Its methods except Send must not be called concurrently.
type server struct{ *servertest.Server }

// start starts a server on the state of p and makes the handshake.
func (p *place) start(flags ...string) *server {
	p.t.Helper()
	s := &server{servertest.Command(p.t, binary, append([]string{"workbench", "dual", "--state", p.state, "--quiet"}, append(flags, p.flags...)...)...)}
	if p.wrap != nil {
		p.wrap(s.Cmd)
	}
	s.Start()
	return s
}

// call calls a tool. The arguments are encoded as JSON.
func (s *server) call(tool string, in any) answer {
	s.T.Helper()
	return answer{s.Call(tool, in)}
}

// later calls a tool and returns a function that waits for the answer.
func (s *server) later(tool string, in any) func() answer {
	s.T.Helper()
	arriving := s.Send("tools/call", servertest.CallParams(s.T, tool, in))
	return func() answer {
		m, _ := s.Await(arriving) // an empty message is not a success and not a failure, so every check rejects it
		return answer{servertest.Answer{T: s.T, M: &m}}
	}
}

// either returns the first answer of two calls, and a function that waits for the other one.
func either(a, b func() answer) (first answer, other func() answer) {
	answers := make(chan answer, 2)
	for _, wait := range []func() answer{a, b} {
		go func() { answers <- wait() }()
	}
	return <-answers, func() answer { return <-answers }
}

// answer is the response to a call.
type answer struct{ servertest.Answer }

// envelope returns the envelope of the dialect from the first text block. structuredContent must be the same.
func (a answer) envelope() wire.Value {
	a.T.Helper()
	v := servertest.Envelope(a.T, a.M)
	if structured := a.M.Result().Path("structuredContent").Raw(); string(structured) != string(v.Raw()) {
		a.T.Errorf("structuredContent is not the text:\n%s\n%s", structured, v.Raw())
	}
	return v
}

// marked reports whether isError is set.
func (a answer) marked() bool {
	is, _ := a.M.Result().Path("isError").Bool()
	return is
}

// fine requires a success and returns it.
func (a answer) fine() answer {
	a.T.Helper()
	e := a.envelope()
	if ok, _ := e.Path("ok").Bool(); !ok || a.marked() || !e.Path("data").Present() || a.Canonical().Present() {
		a.T.Fatalf("it failed: %.1500s", a.M.Bytes())
	}
	return a
}

// is requires a failure with a code.
func (a answer) is(code string) answer {
	a.T.Helper()
	a.Check(code)
	return a
}

// isA requires a failure in pattern A, with the code in HANDLER_ERROR unless it is INVALID_PARAMS.
func (a answer) isA(code string) answer {
	a.T.Helper()
	a.is(code)
	e := a.envelope()
	ok, isBool := e.Path("ok").Bool()
	shown, _ := e.Path("error", "code").Str()
	hidden, _ := e.Path("error", "details", "code").Str()
	message, _ := e.Path("error", "message").Str()
	switch {
	case !isBool || ok || !a.marked():
		a.T.Errorf("not pattern A: %.1500s", a.M.Bytes())
	case code == "INVALID_PARAMS" || code == "HANDLER_ERROR":
		if shown != code {
			a.T.Errorf("the code is shown as %s: %s", shown, e.Raw())
		}
	case shown != "HANDLER_ERROR" || hidden != code || !strings.HasPrefix(message, code+": "):
		a.T.Errorf("the code is shown as %s, %s, %q", shown, hidden, message)
	}
	return a
}

// isB requires a failure in pattern B.
func (a answer) isB(code string) answer {
	a.T.Helper()
	a.is(code)
	e := a.envelope()
	outer, _ := e.Path("ok").Bool()
	inner, isBool := e.Path("data", "ok").Bool()
	shown, _ := e.Path("data", "error", "code").Str()
	if !outer || !isBool || inner || shown != code || a.M.Result().Path("isError").Present() {
		a.T.Errorf("not pattern B with %s: %.1500s", code, a.M.Bytes())
	}
	return a
}

// data returns a string of a success.
func (a answer) data(path ...any) string {
	text, _ := a.value(path...).Str()
	return text
}

// value returns a value of a success.
func (a answer) value(path ...any) wire.Value {
	return a.M.Result().Path(append([]any{"structuredContent", "data"}, path...)...)
}

// number returns a number of a success.
func (a answer) number(path ...any) int64 {
	n, _ := a.value(path...).Int64()
	return n
}

// truth returns a boolean of a success.
func (a answer) truth(path ...any) bool {
	is, _ := a.value(path...).Bool()
	return is
}

// detail returns a value of the details of a failure.
func (a answer) detail(path ...any) wire.Value {
	return a.Canonical().Path(append([]any{"details"}, path...)...)
}

// Common steps.

const missing = "00000000-0000-0000-0000-000000000000"

// task creates a task and returns its id.
func (s *server) task(more args) string {
	s.T.Helper()
	in := args{"title": "a task", "agent_id": "agent-1"}
	for k, v := range more {
		in[k] = v
	}
	return s.call("task_create", in).fine().data("id")
}

// think records a thought and returns the answer.
func (s *server) think(task string, more args) answer {
	s.T.Helper()
	in := args{"task_id": task, "type": "analysis", "agent_id": "agent-1", "content": "a thought"}
	for k, v := range more {
		in[k] = v
	}
	return s.call("thought_record", in)
}

// advance changes the status of a task step by step up to the given one.
func (s *server) advance(task, to string) {
	s.T.Helper()
	for _, status := range statuses[1:7] {
		s.call("task_update", args{"id": task, "status": status}).fine()
		if status == to {
			return
		}
	}
}

var statuses = []string{"INIT", "GATHER", "ANALYZE", "PLAN", "APPLY", "VERIFY", "DONE", "CANCELLED"}
