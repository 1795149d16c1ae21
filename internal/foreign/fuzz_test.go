package foreign_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/candor-mcp/candor/internal/foreign"
	"github.com/candor-mcp/candor/internal/limits"
	"github.com/candor-mcp/candor/wire"
)

// bounded checks the guarantees for the result of any input.
func bounded(t *testing.T, s foreign.Said) {
	t.Helper()
	switch {
	case len(s.Text) > 4*limits.Message || !utf8.ValidString(s.Text):
		t.Errorf("text of %d bytes", len(s.Text))
	case len(s.Issues) > foreign.MaxIssues:
		t.Errorf("%d issues", len(s.Issues))
	case s.Status != 0 && (s.Status < 100 || s.Status > 599):
		t.Errorf("status %d", s.Status)
	case s.RetryAfter < 0 || s.RetryAfter > 0 && !s.Delayed:
		t.Errorf("wait %v", s.RetryAfter)
	case len(s.Suggestion) > 4*limits.Message || len(s.Stack) > limits.Stack:
		t.Error("advice or stack too long")
	}
	for _, is := range s.Issues {
		if is.Path != "" && is.Path[0] != '/' {
			t.Errorf("path %q is no JSON Pointer", is.Path)
		}
	}
}

func FuzzReadText(f *testing.F) {
	for _, file := range vectorFiles(f) {
		for _, v := range readVectors(f, file) {
			if v.Text != nil {
				f.Add(*v.Text, string(v.Args))
			}
		}
	}
	f.Fuzz(func(t *testing.T, text, args string) {
		v, _ := wire.ParseValue([]byte(args), wire.Limits{}) // the zero Value means unknown arguments
		said := foreign.ReadText(text, v)
		bounded(t, said)
		if again := foreign.ReadText(text, v); again.Text != said.Text || again.Status != said.Status || len(again.Issues) != len(said.Issues) {
			t.Error("two readings differ")
		}
	})
}

func FuzzReadValue(f *testing.F) {
	for _, file := range vectorFiles(f) {
		for _, v := range readVectors(f, file) {
			f.Add([]byte(v.Value))
		}
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		v, err := wire.ParseValue(raw, wire.Limits{MaxBytes: 1 << 20})
		if err != nil {
			return
		}
		bounded(t, foreign.ReadValue(v, wire.Value{}))
		bounded(t, foreign.ReadResult(v, v))
		bounded(t, foreign.ReadRPC(-32603, string(raw), v, v))
	})
}

// TestHostileTextsAreCheap reads the worst repetitions. The time limit is far above the usual time; without the limits of the
// package some of them would run for minutes.
func TestHostileTextsAreCheap(t *testing.T) {
	parts := []string{"{", "[", "{\"error\":", "missing required parameter ", "\"", "'a' ", "MCP error -1: ", ": MCP error -1: x", "a, ", "必", "\\", "<html", "(", "a.b[0].", "validating /properties/", "; &{", " must ", "429 ", "\n  at "}
	start := time.Now()
	for _, p := range parts {
		bounded(t, foreign.ReadText(strings.Repeat(p, 1<<20/len(p)), wire.Value{}))
	}
	deep := strings.Repeat(`{"error":`, 60) + `"x"` + strings.Repeat("}", 60)
	bounded(t, foreign.ReadText(deep, wire.Value{}))
	wide := `[` + strings.Repeat(`{"path":["a"],"message":"m","errors":[[{"path":["b"],"message":"m"}]]},`, 20000) + `{}]`
	bounded(t, foreign.ReadValue(mustValue(t, []byte(wide)), wire.Value{}))
	if took := time.Since(start); took > 2*time.Minute {
		t.Errorf("took %v", took)
	}
}
