package dialect_test

import (
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

func BenchmarkEncode(b *testing.B) {
	e := benchError()
	var plain map[string]any
	if err := json.Unmarshal([]byte(canonical(e)), &plain); err != nil {
		b.Fatal(err)
	}
	b.Run("encoding/json", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := json.Marshal(plain); err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, name := range dialect.Names() {
		encode := dialect.Must(name).Encode
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			buf := make([]byte, 0, 8192)
			for b.Loop() {
				buf = encode(buf[:0], e, dialect.Options{NoOutputSchema: true})
			}
		})
	}
}

func TestEncodeIntoAGivenBufferDoesNotAllocate(t *testing.T) {
	e, d, buf := benchError(), lookup(t, "candor"), make([]byte, 0, 8192)
	allocs := testing.AllocsPerRun(100, func() { buf = d.Encode(buf[:0], e, dialect.Options{}) })
	if allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}
