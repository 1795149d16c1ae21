package dialect_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/kaiza"
	"github.com/candor-mcp/candor/dialect"
)

// benchError is a typical failure with everything that a server usually knows.
func benchError() *candor.Error {
	return candor.New(kaiza.FileNotFound, "File not found: notes/plan.md",
		candor.WithSuggestion("Call list_files and name a file that it lists."),
		candor.WithDetails(map[string]any{"path": "notes/plan.md", "searched": []string{"notes", "docs"}, "count": 2}),
		candor.WithCauseText(candor.Cause{Message: "open notes/plan.md: no such file or directory", Code: "ENOENT", Name: "PathError"}),
		candor.WithCallInfo(candor.CallInfo{Tool: "read_file", Role: "WINDSURF", SessionID: "550e8400-e29b-41d4-a716-446655440000", WorkspaceRoot: "/srv/work/project"}),
		candor.WithRef("01JD3V7Q2M8W"), candor.WithTime(time.Date(2026, 11, 15, 1, 21, 55, 16e6, time.UTC)))
}

// plainError is the same envelope as a struct for encoding/json.
type plainError struct {
	Code       string         `json:"code"`
	Class      string         `json:"class"`
	Message    string         `json:"message"`
	Retry      plainRetry     `json:"retry"`
	Suggestion string         `json:"suggestion,omitempty"`
	Details    map[string]any `json:"details,omitempty"`
	Domain     string         `json:"domain"`
	Number     int            `json:"number"`
	Origin     struct {
		By       string `json:"by"`
		Inferred bool   `json:"inferred"`
	} `json:"origin"`
	Ref           string `json:"ref"`
	Tool          string `json:"tool,omitempty"`
	Role          string `json:"role,omitempty"`
	SessionID     string `json:"session_id,omitempty"`
	WorkspaceRoot string `json:"workspace_root,omitempty"`
	Cause         *struct {
		Message string  `json:"message"`
		Code    *string `json:"code"`
		Name    *string `json:"name"`
	} `json:"cause,omitempty"`
	Timestamp string `json:"timestamp,omitempty"`
}

type plainRetry struct {
	Kind    string `json:"kind"`
	AfterMs int64  `json:"afterMs,omitempty"`
}

// rawError is plainError with details that are already encoded, which is faster with encoding/json.
type rawError struct {
	plainError
	Details json.RawMessage `json:"details,omitempty"`
}

func BenchmarkEncode(b *testing.B) {
	e := benchError()
	raw := []byte(canonical(e))
	var plain plainError
	var half rawError
	for _, v := range []any{&plain, &half} {
		if err := json.Unmarshal(raw, v); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("encoding/json", func(b *testing.B) { benchJSON(b, &plain) })
	b.Run("encoding/json-raw-details", func(b *testing.B) { benchJSON(b, &half) })
	for _, name := range dialect.Names() {
		d, err := dialect.Lookup(name)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) { benchDialect(b, d.Encode, e) })
		b.Run(name+"-carrier", func(b *testing.B) { benchDialect(b, d.Write, e) })
	}
}

func benchJSON(b *testing.B, v any) {
	b.ReportAllocs()
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	for b.Loop() {
		out.Reset()
		if err := enc.Encode(v); err != nil {
			b.Fatal(err)
		}
	}
}

func benchDialect(b *testing.B, write func([]byte, *candor.Error, dialect.Options) []byte, e *candor.Error) {
	b.ReportAllocs()
	buf := make([]byte, 0, 8192)
	for b.Loop() {
		buf = write(buf[:0], e, dialect.Options{NoOutputSchema: true})
	}
}

func TestEncodeIntoAGivenBufferDoesNotAllocate(t *testing.T) {
	e, d, buf := benchError(), lookup(t, "candor"), make([]byte, 0, 8192)
	allocs := testing.AllocsPerRun(100, func() { buf = d.Encode(buf[:0], e, dialect.Options{}) })
	if allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}
