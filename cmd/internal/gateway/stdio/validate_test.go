package stdio

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/testing/gatewaytest"
)

// loose starts a session with the loose server and lists its tools first, so that every call is checked, even on a slow machine.
func loose(t *testing.T, o gateway.Options) *session {
	t.Helper()
	s := wrapped(t, o, listChild(gatewaytest.ListsLoose))
	s.greet()
	s.send(`{"jsonrpc":"2.0","id":"tools","method":"tools/list"}`)
	s.answer(`"tools"`)
	return s
}

// textOf returns the first text block of a result.
func textOf(t *testing.T, line string) string {
	t.Helper()
	var m struct {
		Result struct{ Content []struct{ Text string } }
	}
	if err := json.Unmarshal([]byte(line), &m); err != nil || len(m.Result.Content) == 0 {
		t.Fatalf("no text in %s", line)
	}
	return m.Result.Content[0].Text
}

// accepted lists arguments that do not match the schema of a tool, but that a server can process.
var accepted = []struct{ name, tool, arguments string }{
	{"extra key", "search", `{"query":"a","zzextra":1}`},
	{"null for an optional argument", "search", `{"query":"a","limit":null}`},
	{"null for an optional argument by reference", "search", `{"query":"a","page":null}`},
	{"a number as text", "search", `{"query":"a","limit":"20"}`},
	{"a number as text, by reference", "search", `{"query":"a","page":"2"}`},
	{"a number as text among alternatives", "search", `{"query":"a","scope":"20"}`},
	{"an empty text for an optional number", "search", `{"query":"a","limit":""}`},
	{"a boolean as text", "search", `{"query":"a","exact":"true"}`},
	{"a boolean as a number", "search", `{"query":"a","exact":1}`},
	{"a list as JSON text", "search", `{"query":"a","tags":"[\"x\"]"}`},
	{"a large list as JSON text", "search", `{"query":"a","tags":"[\"` + strings.Repeat("x", 70_000) + `\"]"}`},
	{"an object as JSON text", "search", `{"query":"a","filter":"{\"x\":1}"}`},
	{"a number for a text", "search", `{"query":5}`},
	{"a boolean for a text", "search", `{"query":true}`},
	{"a fraction for an integer", "search", `{"query":"a","limit":1.5}`},
	{"a value that is not listed", "search", `{"query":"a","sort":"ASC"}`},
	{"a value that is not of the format", "search", `{"query":"a","since":"yesterday"}`},
	{"a number below the minimum", "search", `{"query":"a","limit":0}`},
	{"a text that is too long", "search", `{"query":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}`},
	{"numbers in a list of texts", "search", `{"query":"a","tags":[1,2]}`},
	{"an extra key near one that is given", "search", `{"query":"a","querys":"b"}`},
	{"a key that differs by its number", "search", `{"query":"a","limit2":"b"}`},
	{"a nested key that is missing", "nested", `{"edits":[{"count":1}]}`},
	{"a nested type", "nested", `{"edits":[{"oldText":"a","count":"two"}]}`},
	{"required arguments with a default, or that may be null", "defaulted", `{}`},
	{"an alternative with another type", "either", `{"id":5}`},
	{"a schema that accepts nothing", "nothing", `{"a":1}`},
	{"a schema that accepts nothing, and no argument", "nothing", `{}`},
	{"a schema that is not for objects", "text", `{"a":1}`},
	{"a schema that refers to another", "lost", `{}`},
}

// refused lists arguments that no server can process.
var refused = []struct{ name, tool, arguments string }{
	{"a required argument is missing", "search", `{}`},
	{"null for a required argument", "search", `{"query":null}`},
	{"an object for a text", "search", `{"query":{"a":1}}`},
	{"a text for a number", "search", `{"query":"a","limit":"twenty"}`},
	{"a text for a number among alternatives", "search", `{"query":"a","scope":"twenty"}`},
	{"a text for a boolean", "search", `{"query":"a","exact":"banana"}`},
	{"a text for a list", "search", `{"query":"a","tags":"x"}`},
	{"a list for an object", "search", `{"query":"a","filter":[1]}`},
	{"a misspelt optional key", "search", `{"query":"a","limt":5}`},
	{"an optional key in another case", "search", `{"query":"a","Limit":5}`},
	{"a misspelt optional key beside a large value", "search", `{"query":"` + strings.Repeat("a", 70_000) + `","limt":5}`},
	{"a large text for a list", "search", `{"query":"a","tags":"` + strings.Repeat("x", 70_000) + `"}`},
	{"a misspelt required key", "search", `{"qeury":"a"}`},
	{"a misspelt required key of an open schema", "open", `{"pth":"a"}`},
	{"a misspelt nested key", "nested", `{"edits":[{"old_text":"a"}]}`},
	{"no alternative has its key", "either", `{}`},
	{"arguments that are a list", "search", `[1]`},
	{"arguments that are null, and one is required", "search", `null`},
}

func TestLenientValidationForwardsWhatMayWork(t *testing.T) {
	s := loose(t, gateway.Options{})
	for i, c := range accepted {
		s.call(i+1, c.tool, c.arguments)
		line := s.next()
		if code := gatewaytest.CodeOf(line); code != "" {
			t.Errorf("%s: refused with %s: %.600s", c.name, code, line)
		} else if got := textOf(t, line); got != c.arguments {
			t.Errorf("%s: the server received %.200s, want %.200s", c.name, got, c.arguments)
		}
	}
	s.books.CheckTotals(t, 0)
}

func TestLenientValidationRefusesWhatCannotWork(t *testing.T) {
	s := loose(t, gateway.Options{})
	for i, c := range refused {
		s.call(i+1, c.tool, c.arguments)
		if line := s.next(); gatewaytest.CodeOf(line) != "INVALID_ARGUMENTS" {
			t.Errorf("%s: %.600s", c.name, line)
		}
	}
	s.books.CheckTotals(t, len(refused))
}

// A call that did not match the schema was forwarded and failed. The failure keeps its code and lists the mismatches.
func TestFailureOfAForwardedCallNamesTheSchemaIssues(t *testing.T) {
	for _, mode := range []gateway.Mode{gateway.ModeAnnotate, gateway.ModeStrict} {
		s := loose(t, gateway.Options{Mode: mode})
		s.call(1, "broken", `{"query":"a","limit":"20","zzextra":1}`)
		line := s.next()
		if code := gatewaytest.CodeOf(line); code == "" || code == "INVALID_ARGUMENTS" {
			t.Errorf("%s: the code is %q: %s", mode, code, line)
		}
		text := textOf(t, line)
		for _, want := range []string{"/limit", "must be an integer, not a string", "/zzextra"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q is not in the text: %s", mode, want, text)
			}
		}
		if paths := issuePaths(t, line); !strings.Contains(paths, "/limit") || !strings.Contains(paths, "/zzextra") {
			t.Errorf("%s: the issues name %s", mode, paths)
		}
	}
}

// Arguments that cannot be checked are forwarded, and the error of the failed call says that they were not checked.
// Strict refuses them.
func TestUncheckedArgumentsAreForwardedAndMarked(t *testing.T) {
	arguments := `{"query":"a","zzextra":[` + strings.Repeat(`{},`, 60_000) + `{}]}`
	for level, refused := range map[gateway.Validation]bool{gateway.ValidationLenient: false, gateway.ValidationStrict: true} {
		s := loose(t, gateway.Options{Validate: level})
		s.call(1, "broken", arguments)
		line := s.next()
		if (gatewaytest.CodeOf(line) == "TOO_LARGE") != refused || !strings.Contains(line, `"rule":"too_complex"`) || !strings.Contains(textOf(t, line), "cannot be checked") {
			t.Errorf("%s: %.600s", level, line)
		}
	}
}

// The error of a lost call also lists the mismatches, because they may be the reason.
func TestLostForwardedCallNamesTheSchemaIssues(t *testing.T) {
	s := loose(t, gateway.Options{Timeouts: map[string]time.Duration{"hang": 300 * time.Millisecond}})
	s.call(1, "hang", `{"query":"a","limit":"20"}`)
	line := s.next()
	if gatewaytest.CodeOf(line) != "CALL_TIMEOUT" || issuePaths(t, line) != "/limit" || !strings.Contains(textOf(t, line), "/limit") {
		t.Error(line)
	}
}

// A failed call that matches the schema has no schema issues.
func TestFailureOfAFittingCallHasNoSchemaIssues(t *testing.T) {
	s := loose(t, gateway.Options{})
	s.call(1, "broken", `{"query":"a"}`)
	if paths := issuePaths(t, s.next()); paths != "" {
		t.Errorf("issues at %s", paths)
	}
}

// issuePaths returns the joined paths of the issues in an envelope.
func issuePaths(t *testing.T, line string) string {
	t.Helper()
	var m struct {
		Result struct {
			Meta struct {
				E struct {
					Details struct{ Issues []struct{ Path string } }
				} `json:"dev.candor/error"`
			} `json:"_meta"`
		}
	}
	if err := json.Unmarshal([]byte(line), &m); err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, issue := range m.Result.Meta.E.Details.Issues {
		paths = append(paths, issue.Path)
	}
	return strings.Join(paths, " ")
}

// The text names the missing key and the misspelt one, even if the schema allows additional properties.
func TestMisspeltRequiredArgumentNamesBothKeys(t *testing.T) {
	s := loose(t, gateway.Options{})
	for i, c := range []struct{ arguments, want string }{
		{`{"pth":"a"}`, `"pth"`},
		{`{"file":"a"}`, `"file"`},
		{`{"pth":"` + strings.Repeat("a", 70_000) + `"}`, `"pth"`},
	} {
		s.call(i+1, "open", c.arguments)
		text := textOf(t, s.next())
		if !strings.Contains(text, "/path") && !strings.Contains(text, `"path"`) || !strings.Contains(text, c.want) {
			t.Errorf("%.30s: %s", c.arguments, text)
		}
		if strings.Contains(text, "for example") {
			t.Errorf("the example is made up: %s", text)
		}
	}
}

func TestValidationHoldsPerServerAndTool(t *testing.T) {
	t.Parallel()
	const unfit, missing = `{"query":"a","limit":"20"}`, `{}`
	for _, c := range []struct {
		name    string
		options gateway.Options
		refuses map[string]bool // by arguments of search
	}{
		{"strict", gateway.Options{Validate: gateway.ValidationStrict}, map[string]bool{unfit: true, missing: true}},
		{"lenient", gateway.Options{Validate: gateway.ValidationLenient}, map[string]bool{unfit: false, missing: true}},
		{"off", gateway.Options{Validate: gateway.ValidationOff}, map[string]bool{unfit: false, missing: false}},
		{"strict, the tool off", gateway.Options{Validate: gateway.ValidationStrict, ValidateTools: map[string]gateway.Validation{"search": gateway.ValidationOff}}, map[string]bool{unfit: false, missing: false}},
		{"off, the tool strict", gateway.Options{Validate: gateway.ValidationOff, ValidateTools: map[string]gateway.Validation{"search": gateway.ValidationStrict}}, map[string]bool{unfit: true, missing: true}},
		{"strict, the tool lenient", gateway.Options{Validate: gateway.ValidationStrict, ValidateTools: map[string]gateway.Validation{"search": gateway.ValidationLenient}}, map[string]bool{unfit: false, missing: true}},
		{"observe", gateway.Options{Mode: gateway.ModeObserve, Validate: gateway.ValidationStrict}, map[string]bool{unfit: false, missing: false}},
	} {
		s := loose(t, c.options)
		for arguments, refused := range c.refuses {
			s.call(1, "search", arguments)
			if line := s.next(); (gatewaytest.CodeOf(line) == "INVALID_ARGUMENTS") != refused {
				t.Errorf("%s: %s: %s", c.name, arguments, line)
			}
		}
	}
}
