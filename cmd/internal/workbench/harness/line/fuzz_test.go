package line

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/domain"
	"github.com/candor-mcp/candor/meter"
	"github.com/candor-mcp/candor/wire"
)

// pieces is a reader that returns its text in reads of the given size.
type pieces struct {
	text []byte
	size int
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.text) == 0 {
		return 0, io.EOF
	}
	n := copy(b, p.text[:min(p.size, len(p.text))])
	p.text = p.text[n:]
	return n, nil
}

var volatile = regexp.MustCompile(`"(ref|timestamp)":"[^"]*"`)

// FuzzServe checks that any input gets well-formed responses that do not depend on the size of reads, and that every
// error is counted.
func FuzzServe(f *testing.F) {
	for i, row := range rows {
		f.Add([]byte(row.line+"\n"+pingLine), byte(i))
	}
	quick := testDomain()
	quick.Methods = slices.DeleteFunc(quick.Methods, func(m domain.Method) bool {
		return slices.Contains([]string{"t/wait", "t/meet", "t/stuck", "t/pause"}, m.Name)
	})
	f.Fuzz(func(t *testing.T, input []byte, size byte) {
		if bytes.Contains(input, []byte("sys/")) && bytes.Contains(input, []byte("etrics")) || bytes.Contains(input, []byte("errorStats")) {
			return // their results depend on the order of the calls
		}
		whole := fuzzLines(t, quick, &pieces{input, len(input) + 1})
		if cut := fuzzLines(t, quick, &pieces{input, 1 + int(size)%9}); !slices.Equal(whole, cut) {
			t.Errorf("whole %q\ncut   %q", whole, cut)
		}
	})
}

// fuzzLines returns the responses in a stable order, without the parts that differ between runs.
func fuzzLines(t *testing.T, d domain.Domain, in io.Reader) []string {
	t.Helper()
	m, err := meter.New(meter.Options{MaxTools: 1})
	if err != nil {
		t.Fatal(err)
	}
	s, err := New([]domain.Domain{d}, Options{Logger: slog.New(slog.DiscardHandler), Meter: m, MaxLine: testMaxLine, MaxBatch: 20})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := s.Serve(context.Background(), in, &out); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")[1:]
	errors := uint64(0)
	for i, text := range lines {
		if _, err := wire.ParseValue([]byte(text), wire.Limits{}); err != nil {
			t.Fatalf("not JSON: %q", text)
		}
		errors += countErrors(t, text)
		lines[i] = volatile.ReplaceAllString(text, "")
	}
	stats := m.Stats()
	if stats.Total-stats.Suppressed != errors {
		t.Errorf("%d errors sent, %d counted, %d of them suppressed", errors, stats.Total, stats.Suppressed)
	}
	slices.Sort(lines)
	return lines
}

func countErrors(t *testing.T, text string) (n uint64) {
	t.Helper()
	all := []json.RawMessage{json.RawMessage(text)}
	if text[0] == '[' {
		if err := json.Unmarshal([]byte(text), &all); err != nil {
			t.Fatal(err)
		}
	}
	for _, one := range all {
		r := parse(t, string(one))
		if r.JSONRPC != "2.0" || r.ID == nil || (r.Error == nil) == (r.Result == nil) {
			t.Errorf("not a response: %s", one)
		}
		if r.Error != nil {
			n++
		}
	}
	return n
}
