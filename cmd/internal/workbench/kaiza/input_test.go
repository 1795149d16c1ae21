package kaiza_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/candor-mcp/candor/ledger"
)

// malformed lists calls that fail before a tool runs.
var malformed = []struct {
	tool, in, code string
}{
	{"no_such_tool", `{}`, "TOOL_NOT_FOUND"},
	{"no_such_tool", `[]`, "TOOL_NOT_FOUND"},
	{"Read_File", `{"path":"src/hello.txt"}`, "TOOL_NOT_FOUND"},
	{"read_file", `null`, "INVALID_INPUT_FORMAT"},
	{"read_file", `["src/hello.txt"]`, "INVALID_INPUT_FORMAT"},
	{"read_file", `"src/hello.txt"`, "INVALID_INPUT_FORMAT"},
	{"read_file", `"{\"path\":\"src/hello.txt\"}"`, "INVALID_INPUT_FORMAT"},
	{"read_file", `5`, "INVALID_INPUT_FORMAT"},
	{"read_file", `true`, "INVALID_INPUT_FORMAT"},
	{"read_file", `{}`, "MISSING_REQUIRED_FIELD"},
	{"read_file", `{"Path":"src/hello.txt"}`, "MISSING_REQUIRED_FIELD"},
	{"read_file", `{"path":null}`, "INVALID_INPUT_TYPE"},
	{"read_file", `{"path":5}`, "INVALID_INPUT_TYPE"},
	{"read_file", `{"path":["src/hello.txt"]}`, "INVALID_INPUT_TYPE"},
	{"read_file", `{"path":"src/hello.txt","line":"1"}`, "INVALID_INPUT_TYPE"},
	{"read_file", `{"path":"src/hello.txt","line":1.5}`, "INVALID_INPUT_TYPE"},
	{"read_file", `{"path":""}`, "INVALID_INPUT_VALUE"},
	{"read_file", `{"path":"src/hello.txt","line":0}`, "INVALID_INPUT_VALUE"},
	{"read_file", `{"path":"src/hello.txt","more":1}`, "INVALID_INPUT_VALUE"},
	{"read_file", `{"path":"src/hello.txt","role":7}`, "INVALID_INPUT_TYPE"},
	{"write_file", `{"path":"docs/reports/a.md"}`, "INVALID_INPUT_VALUE"},
	{"write_file", `{"path":"docs/reports/a.md","content":"a","patch":"b"}`, "INVALID_INPUT_VALUE"},
}

// rejected checks that each refused call is in the trail with exactly an enter, a failure and an exit entry, under the
// code and reference that the client got.
func (p *env) rejected(answers []answer) {
	p.t.Helper()
	byCall := map[string][]ledger.Record{}
	callOf := map[string]string{}
	for _, e := range p.entries() {
		byCall[e.Call] = append(byCall[e.Call], e)
		if e.Kind == ledger.KindFailure {
			if callOf[e.Ref] != "" {
				p.t.Errorf("%s is recorded twice", e.Ref)
			}
			callOf[e.Ref] = e.Call
		}
	}
	for _, a := range answers {
		entries := byCall[callOf[a.ref()]]
		var kinds []ledger.Kind
		for _, e := range entries {
			kinds = append(kinds, e.Kind)
			if e.Kind != ledger.KindEnter && (e.Code != a.code() || e.Ref != a.ref()) {
				p.t.Errorf("the %s of %s has the code %s and the ref %s", e.Kind, a.m.Bytes(), e.Code, e.Ref)
			}
		}
		if !slices.Equal(kinds, []ledger.Kind{ledger.KindEnter, ledger.KindFailure, ledger.KindExit}) {
			p.t.Errorf("of %s the trail has %v", a.m.Bytes(), kinds)
		}
	}
	if n := p.recorded(ledger.KindFailure); n != len(answers) {
		p.t.Errorf("%d calls were refused and %d failures are in the trail", len(answers), n)
	}
}

// TestK5EveryRefusalHasEnvelopeAndEntry makes every malformed call before a session begins, during it, and while it is
// locked.
func TestK5EveryRefusalHasEnvelopeAndEntry(t *testing.T) {
	overEveryTransport(t, func(t *testing.T, p *env, dial func() *client) {
		c := dial()
		var refused []answer
		tryAll := func(gate string) {
			t.Helper()
			for _, m := range malformed {
				want := m.code
				switch {
				case want == "TOOL_NOT_FOUND":
				case c.session != "" && m.in[0] != '{':
					want = "SESSION_NOT_INITIALIZED" // without a lasting connection, malformed arguments cannot name a session
				case gate != "":
					want = gate
				}
				a := c.call(m.tool, json.RawMessage(m.in))
				if got := a.code(); got != want {
					t.Errorf("%s %s: %s, want %s", m.tool, m.in, got, want)
				}
				a.enveloped(want)
				refused = append(refused, a)
			}
		}
		tryAll("SESSION_NOT_INITIALIZED")
		for in, code := range map[string]string{`null`: "INVALID_INPUT_FORMAT", `[]`: "INVALID_INPUT_FORMAT", `{}`: "MISSING_REQUIRED_FIELD",
			`{"workspace_root":1,"role":"WINDSURF"}`: "INVALID_INPUT_TYPE", `{"workspace_root":"/","role":"ROOT"}`: "INVALID_INPUT_VALUE"} {
			a := c.call("begin_session", json.RawMessage(in))
			a.enveloped(code)
			refused = append(refused, a)
		}
		c.begin("WINDSURF")
		tryAll("")
		p.rejected(refused)
		locks := c.call("drill", args{"kind": "invariant"})
		locks.enveloped("INVARIANT_VIOLATION")
		refused = append(refused, locks)
		for i, tool := range []string{"write_file", "apply_patch", "submit_plan", "drill", "write_file"} {
			in := []string{`{"path":"src/a.txt","content":"x"}`, `null`, `{"content":7}`, `[]`, `{}`}[i]
			want := "SESSION_LOCKED"
			if c.session != "" && in[0] != '{' {
				want = "SESSION_NOT_INITIALIZED"
			}
			a := c.call(tool, json.RawMessage(in))
			a.enveloped(want)
			refused = append(refused, a)
		}
		p.rejected(refused)
		c.stop()
		p.verify()
	}, "--drill")
}

// TestK5OtherRequestsAreRecorded sends requests that do not become calls: they have one failure entry, and no
// enter or exit entry.
func TestK5OtherRequestsAreRecorded(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	c := p.executor()
	for n, params := range []string{`{"name":5,"arguments":{}}`, `null`, `[]`, `"read_file"`, `{"name":["read_file"]}`} {
		a := answer{t, c.ask("tools/call", params)}
		a.enveloped("INVALID_REQUEST_PARAMS")
		entries := slices.DeleteFunc(p.entries(), func(e ledger.Record) bool { return e.Kind == ledger.KindCheckpoint }) // signed every second
		last := entries[len(entries)-1]
		if last.Kind != ledger.KindFailure || last.Ref != a.ref() || p.recorded(ledger.KindFailure) != n+1 {
			t.Errorf("%s: the trail ends with %s", params, fmt.Sprint(last.Kind, last.Code, last.Ref))
		}
	}
	c.call("", args{}).enveloped("TOOL_NOT_FOUND")
	c.call("read_file", args{"path": "src/hello.txt", "session_id": 7}).enveloped("INVALID_INPUT_TYPE")
	c.call("read_file", args{"path": "src/hello.txt", "session_id": "unknown"}).enveloped("SESSION_NOT_INITIALIZED")
	c.call("read_file", args{"path": "src/hello.txt"}).fine()
}
