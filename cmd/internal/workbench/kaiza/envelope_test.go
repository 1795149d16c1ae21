package kaiza_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor/internal/timestamp"
	"github.com/candor-mcp/candor/wire"
)

// envelopeKeys lists the members of the envelope in order.
var envelopeKeys = []string{
	"error_code", "human_message", "role", "session_id", "workspace_root", "tool_name", "invariant_id", "phase_id", "plan_hash", "cause", "timestamp",
}

// members returns the names in an object in order, and the names of those that are not null.
func members(v wire.Value) (names, filled []string) {
	for name, value := range v.Members() {
		text, _ := name.Str()
		names = append(names, text)
		if !value.IsNull() {
			filled = append(filled, text)
		}
	}
	return names, filled
}

// enveloped checks that a failed call has the complete envelope, and returns it. A protocol error has it in its data,
// beside the canonical error; any other failure has it in the first content block and, byte for byte the same, in
// structuredContent.
func (a answer) enveloped(code string) wire.Value {
	a.t.Helper()
	a.is(code)
	envelope := a.system()
	names, _ := members(envelope)
	if a.m.Error().Present() {
		names = slices.DeleteFunc(names, func(name string) bool { return name == "dev.candor/error" })
	} else {
		text := a.text("content", 0, "text")
		if failed, _ := a.m.Result().Path("isError").Bool(); !failed || a.text("content", 0, "type") != "text" {
			a.t.Errorf("it is not marked as a failure: %s", a.m.Bytes())
		}
		if mirror := string(a.m.Result().Path("structuredContent").Raw()); mirror != text {
			a.t.Errorf("the block says %s and structuredContent %s", text, mirror)
		}
	}
	if !slices.Equal(names, envelopeKeys) {
		a.t.Errorf("the members are %v", names)
	}
	if !envelope.Path("error_code").Is(code) {
		a.t.Errorf("the envelope is not of %s: %s", code, envelope.Raw())
	}
	for _, name := range []string{"human_message", "tool_name", "timestamp"} {
		if text, ok := envelope.Path(name).Str(); !ok || text == "" {
			a.t.Errorf("%s must never be null: %s", name, envelope.Raw())
		}
	}
	stamp, _ := envelope.Path("timestamp").Str()
	if at, err := timestamp.Parse(stamp); err != nil || !strings.HasSuffix(stamp, "Z") || at.Before(time.Unix(1, 0)) {
		a.t.Errorf("the time is %q", stamp)
	}
	return envelope
}

func TestK1AFailureIsTheWholeEnvelope(t *testing.T) {
	overEveryTransport(t, func(t *testing.T, _ *env, dial func() *client) {
		always := []string{"error_code", "human_message", "tool_name", "timestamp"}
		session := append([]string{"role", "session_id", "workspace_root"}, always...)
		c := dial()
		fails := func(tool string, in any, code string, base []string, more ...string) {
			t.Helper()
			_, filled := members(c.call(tool, in).enveloped(code))
			want := append(slices.Clone(base), more...)
			slices.Sort(want)
			slices.Sort(filled)
			if !slices.Equal(filled, want) {
				t.Errorf("%s: the members that are not null are %v, want %v", code, filled, want)
			}
		}
		fails("list_plans", args{}, "SESSION_NOT_INITIALIZED", always)
		fails("begin_session", args{"workspace_root": "x", "role": "WINDSURF"}, "BOOTSTRAP_FAILURE", always)
		fails("begin_session", args{}, "MISSING_REQUIRED_FIELD", always)
		c.begin("WINDSURF")
		fails("read_file", args{"path": 5}, "INVALID_INPUT_TYPE", session)
		fails("read_file", args{"path": "../x", "phase_id": "two"}, "PATH_TRAVERSAL_BLOCKED", session, "phase_id")
		fails("read_file", args{"path": "none"}, "FILE_NOT_FOUND", session, "cause")
		fails("read_plan", args{"plan_hash": hashOf("x"), "phase_id": "two"}, "PLAN_NOT_FOUND", session, "plan_hash", "phase_id")
		fails("drill", args{"kind": "error"}, "INTERNAL_ERROR", session, "cause")
		fails("drill", args{"kind": "panic"}, "INTERNAL_ERROR", session, "cause")
		fails("drill", args{"kind": "invariant"}, "INVARIANT_VIOLATION", session, "cause", "invariant_id")
		fails("drill", args{"kind": "error"}, "SESSION_LOCKED", session)
	}, "--drill")
}

// TestK2AStackSaysWhere checks a failure that is no panic: of a tool, and of arguments that are refused before it.
func TestK2AStackSaysWhere(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	p.env = []string{"DEBUG_STACK=true"}
	s := p.executor()
	for path, where := range map[any]string{"none": "kaiza.(*System).read (read.go:", 5: "argerror.go:"} {
		names, _ := members(s.call("read_file", args{"path": path}).system())
		stack, _ := s.call("read_file", args{"path": path}).system().Path("stack_trace").Str()
		if !slices.Equal(names, append(slices.Clone(envelopeKeys), "stack_trace")) || !strings.Contains(stack, where) || strings.Contains(stack, "/") {
			t.Errorf("the members are %v, the stack is %q", names, stack)
		}
	}
}

// TestK22TheSameConditionHasTheSameCode causes each condition three times, before and after a restart of the server. It compares
// the members that programs may rely on, but not the message.
func TestK22TheSameConditionHasTheSameCode(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	plan := p.approved("src/**")
	if err := os.Symlink(p.state, p.file("out")); err != nil {
		t.Fatal(err)
	}
	conditions := map[string]struct {
		tool string
		in   any
	}{
		"unknown tool": {"no_such_tool", args{}},
		"no object":    {"read_file", json.RawMessage(`[1]`)},
		"no argument":  {"read_file", args{}},
		"wrong type":   {"read_file", args{"path": true}},
		"traversal":    {"read_file", args{"path": "src/../../x"}},
		"link":         {"read_file", args{"path": "out/version.json"}},
		"missing file": {"read_file", args{"path": "src/none"}},
		"other hash":   {"write_file", args{"path": "src/hello.txt", "content": "x", "plan_hash": plan, "previous_hash": hashOf("x")}},
		"not my tool":  {"submit_plan", args{"content": planText("src/**")}},
		"no plan":      {"write_file", args{"path": "src/new.txt", "content": "x", "plan_hash": hashOf("x")}},
		"second begin": {"begin_session", args{"workspace_root": p.work, "role": "WINDSURF"}},
		"panic":        {"drill", args{"kind": "panic"}},
		"wrapped":      {"drill", args{"kind": "wrapped"}},
		"legacy":       {"drill", args{"kind": "legacy"}},
		"silent":       {"drill", args{"kind": "silent"}},
	}
	first := map[string]string{}
	decided := func(name string, a answer) {
		e, decides := a.canonical(), ""
		for _, member := range []string{"code", "domain", "number", "class", "retry", "origin"} {
			decides += string(e.Path(member).Raw()) + " "
		}
		if first[name] == "" && e.Path("code").Present() {
			first[name] = decides
		}
		if decides != first[name] {
			t.Errorf("%s: %q, and before %q", name, decides, first[name])
		}
	}
	write := func(path string) args { return args{"path": path, "content": "x", "plan_hash": plan} }
	for life, runs := range []int{2, 1} {
		c := p.start("--drill")
		for range 3 {
			decided("before a session", c.call("read_file", args{"path": "src/hello.txt"}))
			decided("no such workspace", c.call("begin_session", args{"workspace_root": p.work + "/none", "role": "WINDSURF"}))
		}
		c.begin("WINDSURF")
		for run := range runs {
			for name, condition := range conditions {
				decided(name, c.call(condition.tool, condition.in))
			}
			decided("outside the plan", c.call("write_file", write("outside.txt")))
			for range 3 {
				decided("locked", c.call("write_file", write("src/new.txt")))
			}
			c.unlocked(fmt.Sprintf("same-%d-%d.md", life, run))
		}
		c.Kill()
	}
	if len(first) != len(conditions)+4 {
		t.Errorf("only %d of %d conditions have a code", len(first), len(conditions)+4)
	}
}
