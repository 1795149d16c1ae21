package kaiza_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/testing/conformance"
	"github.com/candor-mcp/candor/wire"
)

// unknownPlan is the hash of a plan that does not exist.
var unknownPlan = strings.Repeat("ab", 32)

// TestTypeScriptClientsListAndCallTheTools runs each official client like an application does. A failure must reach the
// application unchanged: the client must not throw or drop anything.
func TestTypeScriptClientsListAndCallTheTools(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]conformance.Client{"v1": conformance.V1, "v2": conformance.V2Legacy, "v2 stateless": conformance.V2Modern} {
		t.Run(name+"/stdio", func(t *testing.T) {
			t.Parallel()
			p := newEnv(t)
			visit(p, c, conformance.Door{Command: p.command()}, false)
		})
		t.Run(name+"/http", func(t *testing.T) {
			t.Parallel()
			p := newEnv(t)
			visit(p, c, conformance.Door{URL: p.listen().url}, c == conformance.V2Modern)
		})
	}
}

// visit begins a session, reads, and fails to write. If echo is true, each call names the session.
func visit(p *env, c conformance.Client, door conformance.Door, echo bool) {
	p.t.Helper()
	box, err := conformance.OpenToolbox()
	conformance.OkOrSkip(p.t, err)
	application, err := box.Application(p.t.Context(), c, p.t.TempDir())
	conformance.OkOrSkip(p.t, err)
	var repeated []string
	if echo {
		repeated = []string{"session_id"}
	}
	seen, err := application.Look(p.t.Context(), door, []conformance.Call{
		{Name: "read_file", Arguments: args{"path": "src/hello.txt"}},
		{Name: "begin_session", Arguments: args{"workspace_root": p.work, "role": "WINDSURF"}},
		{Name: "read_file", Arguments: args{"path": "src/hello.txt"}, Echo: repeated},
		{Name: "write_file", Arguments: args{"path": "src/new.txt", "content": "new\n", "plan_hash": unknownPlan}, Echo: repeated},
	})
	if err != nil {
		p.t.Fatal(err)
	}
	p.sameTools(seen.Tools)
	var got []answer
	for _, call := range seen.Calls {
		if call.Thrown != nil {
			p.t.Fatalf("the client threw at the answer of %s: %+v", call.Tool, *call.Thrown)
		}
		got = append(got, p.result(call.Result))
	}
	early, begun, read, written := got[0], got[1], got[2], got[3]
	early.enveloped("SESSION_NOT_INITIALIZED")
	begun.fine()
	if must, _ := begun.m.Result().Path("structuredContent", "echo_session_id").Bool(); must != echo {
		p.t.Errorf("asked to name the session: %v, want %v", must, echo)
	}
	read.readsHello()
	written.planNotFound(begun.text("structuredContent", "session_id"))
}

// command returns the command line of the server over standard input and output.
func (p *env) command() []string {
	return []string{binary, "workbench", "kaiza", "--root", p.root, "--state", p.state}
}

// result returns a result received by another client as an answer.
func (p *env) result(raw json.RawMessage) answer {
	p.t.Helper()
	m := wire.Parse([]byte(`{"jsonrpc":"2.0","id":1,"result":`+string(raw)+`}`), wire.Limits{})
	if !m.Result().Present() {
		p.t.Fatalf("this is no result: %s", raw)
	}
	return answer{p.t, m}
}

// sameTools checks that another client sees the tools, with their schemas, exactly as the server lists them.
func (p *env) sameTools(seen []json.RawMessage) {
	p.t.Helper()
	elsewhere := newEnv(p.t).start()
	answered := elsewhere.ask("tools/list", `{}`)
	elsewhere.stop()
	var listed []json.RawMessage
	if err := json.Unmarshal(answered.Result().Path("tools").Raw(), &listed); err != nil {
		p.t.Fatal(err)
	}
	if len(listed) == 0 || len(seen) != len(listed) {
		p.t.Fatalf("%d tools are listed and %d seen", len(listed), len(seen))
	}
	for i := range listed {
		var want, got map[string]any
		if json.Unmarshal(listed[i], &want) != nil || json.Unmarshal(seen[i], &got) != nil || !reflect.DeepEqual(got, want) {
			p.t.Errorf("seen was %s, listed is %s", seen[i], listed[i])
		}
		if schema, ok := got["inputSchema"].(map[string]any); !ok || schema["type"] != "object" {
			p.t.Errorf("no schema is seen: %s", seen[i])
		}
	}
}

// readsHello checks the content of the file that every workspace has.
func (a answer) readsHello() {
	a.t.Helper()
	a.fine()
	if got := a.text("content", 0, "text"); got != "hello\nworld\n" {
		a.t.Errorf("read %q", got)
	}
}

// planNotFound checks the envelope of a change with a plan that does not exist.
func (a answer) planNotFound(session string) {
	a.t.Helper()
	envelope := a.enveloped("PLAN_NOT_FOUND")
	for name, want := range map[string]string{"session_id": session, "role": "WINDSURF", "tool_name": "write_file", "plan_hash": unknownPlan} {
		if !envelope.Path(name).Is(want) {
			a.t.Errorf("%s is not %q: %s", name, want, envelope.Raw())
		}
	}
}
