package workrail_test

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestW15TheContextBudgetIsExact checks that 262144 bytes of canonical JSON are accepted, and one more is not.
func TestW15TheContextBudgetIsExact(t *testing.T) {
	t.Parallel()
	s := newPlace(t).start()
	const limit = 262144
	// {"k":"…"} has 8 bytes around the text; other characters have other lengths as canonical JSON.
	for name, unit := range map[string]struct {
		text  string
		bytes int
	}{"ascii": {"x", 1}, "markup": {"<", 1}, "quote": {`"`, 2}, "control": {"\x01", 6}, "newline": {"\n", 2}, "two bytes": {"é", 2}, "line separator": {"\u2028", 3}, "four bytes": {"𝄞", 4}} {
		room := limit - 8
		text := strings.Repeat(unit.text, room/unit.bytes) + strings.Repeat("y", room%unit.bytes)
		for _, tool := range []string{"start_workflow", "continue_workflow"} {
			call := func(text string) answer {
				if tool == "start_workflow" {
					return s.call(tool, args{"workflowId": "plain", "context": args{"k": text}})
				}
				return s.call(tool, args{"continueToken": s.begin("plain", nil).token(), "context": args{"k": text}})
			}
			if a := call(text); a.failed() || a.data("kind") != "step" {
				t.Errorf("%s, %s: %d bytes: %.600s", tool, name, limit, a.M.Bytes())
			}
			a := call(text + "z").is("VALIDATION_ERROR").wellFormed()
			details := a.envelope().Path("details")
			measured, _ := details.Path("measuredBytes").Int64()
			allowed, _ := details.Path("maxBytes").Int64()
			if measured != limit+1 || allowed != limit || a.detail("measuredAs") != "jcs_utf8_bytes" || a.detail("tool") != tool || a.detail("kind") != "context_budget_exceeded" {
				t.Errorf("%s, %s: details %s", tool, name, details.Raw())
			}
		}
	}
}

// TestW15TheSumOfContextsIsExact checks that a call within the budget that makes the session exceed it is blocked.
func TestW15TheSumOfContextsIsExact(t *testing.T) {
	t.Parallel()
	s := newPlace(t).start()
	a := s.begin("plain", args{"a": strings.Repeat("x", 131072)})
	// {"a":"…","b":"…"} has 15 bytes around the texts.
	rest := 262144 - 131072 - 15
	b := s.call("continue_workflow", args{"continueToken": a.token(), "context": args{"b": strings.Repeat("x", rest+1)}}).kind("blocked")
	if b.data("blockers", "blockers", 0, "code") != "CONTEXT_BUDGET_EXCEEDED" || !strings.Contains(b.data("blockers", "blockers", 0, "message"), "262145") {
		t.Errorf("%s", b.M.Result().Path("structuredContent", "blockers").Raw())
	}
	s.call("continue_workflow", args{"continueToken": b.token(), "context": args{"b": strings.Repeat("x", rest)}}).kind("step")
}

// TestW15DepthIsExact checks that 64 levels are accepted and 65 are not, and that the error has the path.
func TestW15DepthIsExact(t *testing.T) {
	t.Parallel()
	s := newPlace(t).start()
	nested := func(levels int) any {
		v := any("leaf")
		for range levels - 1 {
			v = args{"k": v}
		}
		return args{"k": v}
	}
	s.call("start_workflow", args{"workflowId": "plain", "context": nested(64)}).kind("step")
	a := s.call("start_workflow", args{"workflowId": "plain", "context": nested(65)}).is("VALIDATION_ERROR").wellFormed()
	depth, _ := a.envelope().Path("details", "maxDepth").Int64()
	if depth != 64 || !strings.HasPrefix(a.detail("path"), "context.k.k") || a.detail("kind") != "context_depth_exceeded" {
		t.Errorf("details %s", a.envelope().Path("details").Raw())
	}
	s.call("continue_workflow", args{"continueToken": s.begin("plain", nil).token(), "output": nested(200)})
}

// TestW15EverythingAtItsLimitFitsOneStep has notes, output and context of the characters that take most space when
// stored.
func TestW15EverythingAtItsLimitFitsOneStep(t *testing.T) {
	t.Parallel()
	s := newPlace(t).start()
	for _, unit := range []string{"<", "\u2028", "\x01", "é"} {
		a := s.begin("plain", nil)
		size := map[string]int{"<": 262136, "\u2028": 87378, "\x01": 43689, "é": 131068}[unit]
		b := s.call("continue_workflow", args{"continueToken": a.token(), "notes": strings.Repeat(unit, 65536), "context": args{"k": strings.Repeat(unit, size)},
			"output": strings.Repeat(unit, min(size, 43000))})
		if b.failed() || b.data("kind") != "step" {
			t.Errorf("%q: %.600s", unit, b.M.Bytes())
		}
	}
}

func TestNumbersThatAreTooLargeAreRefused(t *testing.T) {
	t.Parallel()
	s := newPlace(t).start()
	for _, number := range []string{"1e999", "-1e400"} {
		in := args{"workflowId": "plain", "context": args{"a": []any{args{"b": json.Number(number)}}}}
		if got := s.call("start_workflow", in).is("VALIDATION_ERROR").detail("path"); got != "context.a[0].b" {
			t.Errorf("%s: the path is %q", number, got)
		}
	}
	s.begin("plain", args{"a": json.Number("1e308"), "b": json.Number("1e-999")})
}
