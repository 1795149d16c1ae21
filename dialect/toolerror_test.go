package dialect_test

import (
	"strings"
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/kaiza"
	"github.com/candor-mcp/candor/codes/workrail"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/wire"
)

func TestW2OnePlaceForTheSuggestionAndNoNestedDetails(t *testing.T) {
	d := lookup(t, "tool-error")
	each(t, 3, func(e *candor.Error) {
		v := parse(t, d.Encode(nil, e, dialect.Options{}))
		for _, key := range []string{"code", "message", "retry"} {
			if !v.Path(key).Present() {
				t.Fatalf("%s is missing: %s", key, v.Raw())
			}
		}
		if said, has := v.Path("suggestion").Str(); has && said != e.Suggestion() {
			t.Fatalf("suggestion: %s", v.Raw())
		}
		if got := read(t, d, v.Raw()).Suggestion(); got != e.Suggestion() {
			t.Fatalf("the suggestion %q is read as %q: %s", e.Suggestion(), got, v.Raw())
		}
		inner := v.Path("details", "details")
		if inner.Type() == wire.TypeObject && !clashes(v.Path("details"), inner) {
			t.Fatalf("details.details: %s", v.Raw())
		}
	})
}

// clashes reports whether two members have one name, so that the objects cannot be joined.
func clashes(outer, inner wire.Value) bool {
	for name := range inner.Members() {
		key, _ := name.Str()
		if _, taken := outer.Get(key); taken && key != "details" {
			return true
		}
	}
	return false
}

func TestW3RetryIsAClosedSum(t *testing.T) {
	d := lookup(t, "tool-error")
	for raw, want := range map[string]string{
		`{"kind":"not_retryable"}`:                       "not_retryable",
		`{"kind":"retryable_immediate"}`:                 "retryable_immediate",
		`{"kind":"retryable_after_ms","afterMs":2000}`:   "retryable_after_ms 2000",
		`{"kind":"retryable","suggestedDelayMs":0}`:      "retryable_immediate",
		`{"kind":"retryable","suggestedDelayMs":500}`:    "retryable_after_ms 500",
		`{"kind":"retryable_after_ms"}`:                  "",
		`{"kind":"retryable_after_ms","afterMs":0}`:      "",
		`{"kind":"retryable_after_ms","afterMs":-5}`:     "",
		`{"kind":"retryable_after_ms","afterMs":1.5}`:    "",
		`{"kind":"retryable_after_ms","afterMs":"2000"}`: "",
		`{"kind":"not_retryable","afterMs":5}`:           "",
		`{"kind":"retryable_immediate","afterMs":5}`:     "",
		`{"kind":"not_retryable","extra":1}`:             "",
		`{"kind":"sometimes"}`:                           "",
		`{"kind":""}`:                                    "",
	} {
		e, err := d.Read(parse(t, []byte(`{"code":"TIMEOUT","message":"m","retry":`+raw+`}`)))
		switch {
		case want == "" && err == nil:
			t.Errorf("%s was read as %s", raw, e.Retry())
		case want != "" && (err != nil || e.Retry().String() != want):
			t.Errorf("%s: %v %v", raw, e, err)
		}
	}
	each(t, 1, func(e *candor.Error) {
		for _, name := range dialect.Names() {
			checkRetries(t, name, parse(t, lookup(t, name).Write(nil, e, fullView)))
		}
	})
}

// checkRetries checks every retry advice in a written value: afterMs is present exactly with retryable_after_ms.
func checkRetries(t *testing.T, name string, v wire.Value) {
	t.Helper()
	for key, value := range v.Members() {
		if kind, ok := value.Path("kind").Str(); ok && key.Is("retry") {
			ms, has := value.Path("afterMs").Int64()
			if known := kind == "not_retryable" || kind == "retryable_immediate" || kind == "retryable_after_ms"; !known ||
				has != (kind == "retryable_after_ms") || has && ms <= 0 {
				t.Fatalf("%s writes %s", name, value.Raw())
			}
		}
		checkRetries(t, name, value)
	}
}

func TestW7IssuesAreWrittenWithDottedPathsAndReadBack(t *testing.T) {
	d := lookup(t, "tool-error")
	e := candor.New(workrail.ValidationError, "Invalid input", candor.WithIssues(
		candor.Issue{Path: "/stateToken", Message: "Required", Rule: "required"},
		candor.Issue{Path: "/steps/0/a.b/c", Got: "string", Rule: "type"},
		candor.Issue{Path: "", Message: "whole"}))
	v := parse(t, d.Encode(nil, e, dialect.Options{}))
	want := `[{"path":"stateToken","message":"Required","rule":"required"},` +
		`{"path":"steps.0[\"a.b\"].c","message":"type","rule":"type","got":"string"},{"path":"","message":"whole"}]`
	if got := string(v.Path("details", "validationIssues").Raw()); got != want {
		t.Errorf("\nwant %s\n got %s", want, got)
	}
	issues := read(t, d, d.Encode(nil, e, dialect.Options{})).Details().Issues()
	if len(issues) != 3 || issues[1].Path != "/steps/0/a.b/c" || issues[0].Rule != "required" {
		t.Errorf("%+v", issues)
	}
}

func TestW14NoDialectWritesAdviceAgainstRetry(t *testing.T) {
	d := lookup(t, "tool-error")
	e := read(t, d, []byte(`{"code":"INTERNAL_ERROR","message":"m","retry":{"kind":"not_retryable"},"details":{"suggestion":"Retry the call."}}`))
	if err := candor.CheckSuggestion(e.Retry(), e.Suggestion()); err != nil || strings.Contains(e.Suggestion(), "Retry the call") {
		t.Errorf("%v: %s", err, e.Suggestion())
	}
	e = read(t, d, []byte(`{"code":"TIMEOUT","message":"m","retry":{"kind":"retryable_immediate"},"suggestion":"Do not retry this call."}`))
	if err := candor.CheckSuggestion(e.Retry(), e.Suggestion()); err != nil {
		t.Error(err)
	}
	each(t, 2, func(e *candor.Error) {
		for _, name := range dialect.Names() {
			checkAdvice(t, name, e, parse(t, lookup(t, name).Write(nil, e, dialect.Options{NoOutputSchema: true, Readable: true})))
		}
	})
}

// checkAdvice checks the members and the line that hold advice, in every dialect.
func checkAdvice(t *testing.T, name string, e *candor.Error, v wire.Value) {
	t.Helper()
	for block := range v.Path("content").Elements() {
		text, _ := block.Path("text").Str()
		for line := range strings.Lines(text) {
			if next, ok := strings.CutPrefix(line, "Next: "); ok {
				adviceAgrees(t, name, e, next)
			}
		}
	}
	for _, at := range []wire.Value{v.Path("structuredContent"), v.Path("_meta", dialect.MetaKey), v.Path("_meta", dialect.ToolFailureKey), v} {
		for _, key := range []string{"suggestion", "agentGuidance"} {
			if text, ok := at.Path(key).Str(); ok {
				adviceAgrees(t, name, e, text)
			}
		}
	}
}

func adviceAgrees(t *testing.T, name string, e *candor.Error, text string) {
	t.Helper()
	if err := candor.CheckSuggestion(e.Retry(), text); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

func TestW17NoAbsolutePathInAnyEnvelope(t *testing.T) {
	planted := []string{"/home/zoltan/secret/notes.txt", "/Users/zoltan/work/x.go", `C:\Users\zoltan\x.txt`, "/srv/app/data/y.db", "/root/.ssh/id_rsa"}
	for _, path := range planted {
		e := candor.New(kaiza.FileReadFailed, "cannot read "+path,
			candor.WithSuggestion("Look at "+path+" first."),
			candor.WithDetails(map[string]any{"text": "see " + path, "list": []string{path}, "deep": map[string]any{"path": path}}),
			candor.WithIssues(candor.Issue{Path: "/file", Message: "not " + path, Hint: path}),
			candor.WithCauseText(candor.Cause{Message: "open " + path + ": denied", Code: "EACCES", Name: "PathError"}),
			candor.WithSession("s-1", "WINDSURF", "/home/zoltan/project"),
			candor.WithStack("tool.Run ("+path+":12)\nmain.main ("+path+":5)"))
		for _, name := range dialect.Names() {
			for _, o := range []dialect.Options{{}, {NoOutputSchema: true, Readable: true, Sep3313: true, Stack: fullView.Stack}} {
				raw := string(lookup(t, name).Write(nil, e, o))
				if name == "system-error" { // it shows the root to the error's own session
					raw = strings.ReplaceAll(raw, `\"workspace_root\":\"/home/zoltan/project\"`, "")
					raw = strings.ReplaceAll(raw, `"workspace_root":"/home/zoltan/project"`, "")
				}
				for _, leak := range []string{"/home/", "/Users/", "Users\\", "/srv/", "/root/", "zoltan"} {
					if strings.Contains(raw, leak) {
						t.Errorf("%s shows %q: %s", name, leak, raw)
					}
				}
			}
		}
	}
}
