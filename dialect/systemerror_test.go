package dialect_test

import (
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/kaiza"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/rootdigest"
	"github.com/candor-mcp/candor/wire"
)

var systemKeys = []string{
	"error_code", "human_message", "role", "session_id", "workspace_root", "tool_name", "invariant_id", "phase_id",
	"plan_hash", "cause", "timestamp",
}

func names(v wire.Value) []string {
	var out []string
	for name := range v.Members() {
		s, _ := name.Str()
		out = append(out, s)
	}
	return out
}

func TestK1ElevenKeysInOrderAndNullNeverAbsent(t *testing.T) {
	d := lookup(t, "system-error")
	each(t, 1, func(e *candor.Error) {
		v := parse(t, d.Encode(nil, e, dialect.Options{}))
		if got := strings.Join(names(v), " "); got != strings.Join(systemKeys, " ") {
			t.Fatalf("keys are %s", got)
		}
		for _, key := range []string{"error_code", "human_message", "tool_name", "timestamp"} {
			if s, _ := v.Path(key).Str(); s == "" {
				t.Fatalf("%s is not a text: %s", key, v.Raw())
			}
		}
	})
}

func TestK1ContentAndStructuredContentAreTheEnvelope(t *testing.T) {
	d := lookup(t, "system-error")
	e := candor.New(kaiza.FileNotFound, "")
	o := dialect.Options{NoOutputSchema: true, Readable: true}
	v := parse(t, d.Write(nil, e, o))
	want := string(d.Encode(nil, e, o))
	if !v.Path("content", 0, "text").Is(want) || string(v.Path("structuredContent").Raw()) != want {
		t.Errorf("%s", v.Raw())
	}
	if failed, _ := v.Path("isError").Bool(); !failed || v.Path("content").Len() != 2 {
		t.Errorf("%s", v.Raw())
	}
	if v = parse(t, d.Write(nil, e, dialect.Options{})); v.Path("structuredContent").Present() {
		t.Error("mirrored though nothing is known about the tool's schema")
	}
}

func TestK2StackTraceOnlyWhenAsked(t *testing.T) {
	d := lookup(t, "system-error")
	e := candor.New(candor.CodeInternalError, "", candor.WithStack("tool.Run (run.go:12)\nmain.main (main.go:5)"))
	for _, p := range []candor.StackPolicy{{}, {Verbose: 5}, {Verbose: -1}} {
		if raw := d.Write(nil, e, dialect.Options{Stack: p, NoOutputSchema: true}); strings.Contains(string(raw), "run.go") {
			t.Errorf("%+v shows a stack: %s", p, raw)
		}
	}
	debug := dialect.Options{Stack: candor.StackPolicy{Debug: true}}
	v := parse(t, d.Encode(nil, e, debug))
	if got := names(v); got[len(got)-1] != "stack_trace" || len(got) != 12 || !v.Path("stack_trace").Is(e.Stack()) {
		t.Errorf("%s", v.Raw())
	}
	if v = parse(t, d.Encode(nil, candor.New(candor.CodeInternalError, ""), debug)); v.Len() != 11 {
		t.Errorf("a stack out of nothing: %s", v.Raw())
	}
	for _, name := range dialect.Names() {
		if raw := lookup(t, name).Write(nil, e, dialect.Options{NoOutputSchema: true}); strings.Contains(string(raw), "run.go") {
			t.Errorf("%s shows a stack that nobody asked for: %s", name, raw)
		}
	}
}

func TestK9TheRootIsShownToItsOwnSessionOnly(t *testing.T) {
	d := lookup(t, "system-error")
	with := func(session string) wire.Value {
		e := candor.New(candor.CodeInternalError, "", candor.WithSession(session, "WINDSURF", "/srv/own/project"))
		return parse(t, d.Encode(nil, e, dialect.Options{}))
	}
	if v := with("s-1"); !v.Path("workspace_root").Is("/srv/own/project") {
		t.Errorf("%s", v.Raw())
	}
	if v := with(""); !v.Path("workspace_root").Is(rootdigest.Of("/srv/own/project")) {
		t.Errorf("%s", v.Raw())
	}
	v := parse(t, d.Encode(nil, candor.New(kaiza.SessionNotInitialized, ""), dialect.Options{}))
	if !v.Path("workspace_root").IsNull() || !v.Path("session_id").IsNull() {
		t.Errorf("%s", v.Raw())
	}
}

func TestSystemErrorTimeIsNeverInvented(t *testing.T) {
	d := lookup(t, "system-error")
	e := candor.New(candor.CodeInternalError, "")
	if v := parse(t, d.Encode(nil, e, dialect.Options{})); !v.Path("timestamp").Is("1970-01-01T00:00:00.000Z") {
		t.Errorf("%s", v.Raw())
	}
	if got := read(t, d, d.Encode(nil, e, dialect.Options{})); !got.Time().IsZero() {
		t.Errorf("the epoch was taken for a time: %v", got.Time())
	}
	now := time.Date(2026, 11, 15, 1, 2, 3, 4e6, time.UTC)
	if got := read(t, d, d.Write(nil, e, dialect.Options{Now: now})); !got.Time().Equal(now) {
		t.Errorf("the caller's time was lost: %v", got.Time())
	}
}
