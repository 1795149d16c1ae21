package serve_test

import (
	"strings"
	"testing"

	"github.com/candor-mcp/candor/ledger"
)

// TestPanicStackIsRecorded calls a tool that panics in a server that does not show stacks. The client gets no stack; the ledger and
// the log have it.
func TestPanicStackIsRecorded(t *testing.T) {
	t.Parallel()
	p := stdio(t, t.TempDir())
	m := p.ask("tools/call", call("panics"))
	p.stop()
	if strings.Contains(string(m.Bytes()), ".go:") {
		t.Errorf("the client got %s", m.Bytes())
	}
	const frame = "serve_test.deep (process_test.go:"
	if data := failureData(t, ledgerOf(p.home)); !strings.Contains(data, frame) {
		t.Errorf("the ledger has %s", data)
	}
	if log := p.printed.String(); !strings.Contains(log, frame) || !strings.Contains(log, refOf(&m)) {
		t.Errorf("the log has %s", log)
	}
}

// failureData returns the data of the only failure in a ledger.
func failureData(t *testing.T, dir string) string {
	t.Helper()
	r, err := ledger.OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close() //nolint:errcheck // it was only read
	var data []string
	for line, err := range r.Entries(t.Context(), ledger.ReadOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		if line.Kind != ledger.KindFailure {
			continue
		}
		data = append(data, string(line.Raw()))
	}
	if len(data) != 1 {
		t.Fatalf("%d failures: %q", len(data), data)
	}
	return data[0]
}

// TestDebugStackCoversEveryFailure calls tools that fail in different ways. With DEBUG_STACK=true each failure has a stack_trace.
func TestDebugStackCoversEveryFailure(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"panics", "fails", "no_such_tool"} {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			p := stdio(t, t.TempDir(), "CANDOR_DIALECT=system-error", "DEBUG_STACK=true")
			m := p.ask("tools/call", call(tool))
			p.stop()
			stack, _ := m.Result().Path("structuredContent", "stack_trace").Str()
			if tool == "no_such_tool" {
				stack, _ = m.Error().Path("data", "stack_trace").Str()
			}
			if !strings.Contains(stack, ".go:") || strings.Contains(stack, "/") {
				t.Errorf("got %s", m.Bytes())
			}
		})
	}
}
