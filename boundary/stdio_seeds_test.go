package boundary

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/wire"
)

// The tests in this file check the requirements of the four systems that this toolkit must support, as far as they concern the wire
// format of a stream.

func TestH6OnlyTheOversizeLineIsLost(t *testing.T) {
	s := begin(t, rowServer(), eras[0], Options{MaxMessage: 1000})
	ping := func(id string) string { return `{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}` }
	huge := `{"jsonrpc":"2.0","id":2,"method":"ping","params":{"a":"` + strings.Repeat("x", 3000)
	go func() {
		s.send(ping("1"), huge+`"}}`, ping("3"), huge+"\\", ping("4"))
		shut(t, s.in)
	}()
	var told []string
	for _, l := range s.collect() {
		told = append(told, l[:min(len(l), 40)])
	}
	slices.Sort(told)
	want := []string{`{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","id":2,"error":{"code":`, `{"jsonrpc":"2.0","id":2,"error":{"code":`,
		`{"jsonrpc":"2.0","id":3,"result":{}}`, `{"jsonrpc":"2.0","id":4,"result":{}}`}
	if !slices.Equal(told, want) {
		t.Errorf("got %q", told)
	}
}

func TestH6MemoryIsBounded(t *testing.T) {
	s := begin(t, rowServer(), eras[0], Options{MaxMessage: 1000})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	part := bytes.Repeat([]byte("x"), 1<<16)
	for range 1 << 9 { // 32 MiB in one line
		if _, err := s.in.Write(part); err != nil {
			t.Fatal(err)
		}
	}
	s.send("")
	m := wire.Parse([]byte(s.next()), wire.Limits{})
	runtime.ReadMemStats(&after)
	if told, _ := envelope(t, &m); told.Code() != candor.CodeMessageTooLarge {
		t.Errorf("%s", m.Bytes())
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 8<<20 {
		t.Errorf("a line of 32 MiB took %d bytes", used)
	}
	s.rest()
}

func TestH7PartialUTF8AndCRLFAcrossChunks(t *testing.T) {
	s := begin(t, rowServer(), eras[0], Options{})
	line := "\xef\xbb\xbf" + `{"jsonrpc":"2.0","id":"ü€😀","method":"ping"}` + "\r\n\r\n \n"
	go func() {
		for i := range len(line) {
			if _, err := io.WriteString(s.in, line[i:i+1]); err != nil {
				t.Error(err)
			}
		}
		shut(t, s.in)
	}()
	if got := s.collect(); !slices.Equal(got, []string{`{"jsonrpc":"2.0","id":"ü€😀","result":{}}`}) {
		t.Errorf("got %q", got)
	}
}

// systemKeys lists the members of a KAIZA envelope in order.
var systemKeys = []string{"error_code", "human_message", "role", "session_id", "workspace_root", "tool_name", "invariant_id",
	"phase_id", "plan_hash", "cause", "timestamp"}

// systemEnvelope checks the format of a KAIZA envelope and returns it.
func systemEnvelope(t *testing.T, raw []byte) wire.Value {
	t.Helper()
	v, err := wire.ParseValue(raw, wire.Limits{})
	if err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
	var keys []string
	for name := range v.Members() {
		key, _ := name.Str()
		keys = append(keys, key)
	}
	if !slices.Equal(keys, systemKeys) {
		t.Errorf("the members are %q", keys)
	}
	return v
}

func toolEnvelope(t *testing.T, m *wire.Message) wire.Value {
	t.Helper()
	first, _ := m.Result().Path("content", 0, "text").Str()
	return systemEnvelope(t, []byte(first))
}

func TestK6AnythingThatIsThrownBecomesAnEnvelope(t *testing.T) {
	server := rowServer()
	thrown := map[string]any{"text": "boom", "error": errors.New("boom"), "wrapped": fmt.Errorf("outer: %w", io.ErrUnexpectedEOF),
		"coded": candor.New(candor.CodeRateLimited, ""), "number": 7, "nil": nil}
	for name, v := range thrown {
		server.AddTool(&mcp.Tool{Name: "throw-" + name, InputSchema: &jsonschema.Schema{Type: "object"}},
			func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { panic(v) })
	}
	s := begin(t, server, eras[0], Options{Dialect: dialect.Must("system-error")})
	for name := range thrown {
		s.send(eras[0].say(callRow("throw-"+name, `{}`)))
		m := wire.Parse([]byte(s.next()), wire.Limits{})
		v := toolEnvelope(t, &m)
		if want := map[bool]string{true: "RATE_LIMITED", false: "INTERNAL_ERROR"}[name == "coded"]; !v.Path("error_code").Is(want) {
			t.Errorf("%s: %s", name, v.Raw())
		}
	}
	if n := len(s.ledger.all()); n != len(thrown) {
		t.Errorf("%d entries", n)
	}
	s.rest()
}
