package mask_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/mask"
	"github.com/candor-mcp/candor/wire"
)

func result(t *testing.T, text string) wire.Value {
	t.Helper()
	v, err := wire.ParseValue([]byte(text), wire.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// says returns the result of a tool with the text in its first block.
func says(text string) string {
	return `{"content":[{"type":"text","text":` + strconv.Quote(text) + `},{"type":"text","text":"Error: the second block"}]}`
}

func shows(structured string) string { return `{"content":[],"structuredContent":` + structured + `}` }

func TestAllConditionsOfARuleMustHold(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rule   mask.Rule
		result string
		want   bool
	}{
		{mask.Rule{Path: "/success", Equals: "false"}, shows(`{"success":false}`), true},
		{mask.Rule{Path: "/success", Equals: "false"}, shows(`{"success":true}`), false},
		{mask.Rule{Path: "/success", Equals: "false"}, shows(`{"success":"false"}`), false},
		{mask.Rule{Path: "/success", Equals: "false"}, shows(`{}`), false},
		{mask.Rule{Path: "/success", Equals: "false"}, says(`{"success":false}`), true},
		{mask.Rule{Path: "/success", Equals: "false"}, says(`success is false`), false},
		{mask.Rule{Path: "/status", Equals: `"über"`}, shows(`{"status":"\u00fcber"}`), true},
		{mask.Rule{Path: "/code", Equals: " 404 "}, shows(`{"code":404}`), true},
		{mask.Rule{Path: "/code", Equals: "404"}, shows(`{"code":4040}`), false},
		{mask.Rule{Path: "/errors/1/a~1b"}, shows(`{"errors":[0,{"a/b":1}]}`), true},
		{mask.Rule{Path: "/errors/2"}, shows(`{"errors":[0,1]}`), false},
		{mask.Rule{Path: "/by/0"}, shows(`{"by":{"0":"a name that looks like a place"}}`), true},
		{mask.Rule{Text: "^Error:"}, says("Error: no"), true},
		{mask.Rule{Text: "^Error:"}, says("fine"), false},
		{mask.Rule{Text: "^Error:"}, shows(`{"text":"Error: no"}`), false},
		{mask.Rule{Text: "^Error:", Except: "not found"}, says("Error: not found"), false},
		{mask.Rule{Text: "^Error:", Except: "not found"}, says("Error: no"), true},
		{mask.Rule{Path: "/isError", Equals: "true"}, `{"toolResult":{"content":[{"type":"text","text":"Error: no"}],"isError":true}}`, true},
		{mask.Rule{Path: "/isError", Equals: "true"}, `{"toolResult":{"content":[{"type":"text","text":"fine"}]}}`, false},
		{mask.Rule{Text: "^Error:"}, `{"toolResult":{"content":[{"type":"text","text":"Error: no"}]}}`, true},
		{mask.Rule{Path: "/ok", Equals: "false", Text: "disk"}, says(`{"ok":false,"why":"disk"}`), true},
		{mask.Rule{Path: "/ok", Equals: "false", Text: "disk"}, says(`{"ok":false,"why":"net"}`), false},
		{mask.Rule{Path: "/ok", Equals: "false", Except: "disk"}, says(`{"ok":false,"why":"disk"}`), false},
	} {
		test, err := c.rule.Compile()
		if err != nil {
			t.Errorf("%+v: %v", c.rule, err)
		}
		if test.Holds(result(t, c.result)) != c.want {
			t.Errorf("%+v and %s: %v", c.rule, c.result, !c.want)
		}
	}
}

// TestNullMatchesOnlyNull uses an answer in which null means success, as with many servers.
func TestNullMatchesOnlyNull(t *testing.T) {
	t.Parallel()
	for equals, want := range map[string]bool{"": false, "null": true, "false": false} {
		test, err := mask.Rule{Path: "/error", Equals: equals}.Compile()
		if err != nil || test.Holds(result(t, says(`{"error":null,"data":[1]}`))) != want {
			t.Errorf("equals %q: %v, or it holds: %v", equals, err, !want)
		}
	}
}

// TestPathMatchesTextOrStructuredContent uses a server with different structured content and text.
func TestPathMatchesTextOrStructuredContent(t *testing.T) {
	t.Parallel()
	both := result(t, `{"content":[{"type":"text","text":"{\"status\":\"failed\"}"}],"structuredContent":{"status":"done"}}`)
	for _, word := range []string{"done", "failed"} {
		test, err := mask.Rule{Path: "/status", Equals: strconv.Quote(word)}.Compile()
		if err != nil || !test.Holds(both) {
			t.Errorf("%s is not found: %v", word, err)
		}
	}
	var seen []string
	for v := range mask.At(both, "/status") {
		seen = append(seen, string(v.Raw()))
	}
	if strings.Join(seen, " ") != `"done" "failed"` {
		t.Errorf("saw %s", seen)
	}
	for range mask.At(both, "/status") {
		break // the second value is not read
	}
}

func TestInvalidRuleErrorSaysWhatIsValid(t *testing.T) {
	t.Parallel()
	for want, rule := range map[string]mask.Rule{
		"a path or a text":       {Equals: "true", Except: "x"},
		"begins with a slash":    {Path: "success"},
		"string with its quotes": {Path: "/status", Equals: "failed"},
		"missing closing )":      {Text: "("},
		"missing closing ]":      {Text: "x", Except: "["},
	} {
		test, err := rule.Compile()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, wanted %q", rule, err, want)
		}
		if test.Holds(result(t, says("x success"))) {
			t.Errorf("%+v was refused, and holds", rule)
		}
	}
}

func TestZeroTestMatchesNothing(t *testing.T) {
	t.Parallel()
	if (mask.Test{}).Holds(result(t, says("Error: no"))) {
		t.Error("it holds")
	}
}
