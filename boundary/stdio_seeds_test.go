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
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/wire"
)

// The tests in this file check the requirements of the four systems that this toolkit must support, as far as they concern the wire
// format of a stream.

func TestH4MalformedMessagesAreAnsweredAsJSONRPCRequires(t *testing.T) {
	s := begin(t, rowServer(), eras[0], Options{})
	for _, c := range []struct{ send, want string }{
		{`null`, `{"jsonrpc":"2.0","error":{"code":-32600,`},
		{`17`, `{"jsonrpc":"2.0","error":{"code":-32600,`},
		{`"x"`, `{"jsonrpc":"2.0","error":{"code":-32600,`},
		{`[]`, `{"jsonrpc":"2.0","error":{"code":-32600,`},
		{`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, `{"jsonrpc":"2.0","error":{"code":-32600,`},
		{`{"id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32600,`},
		{`{"jsonrpc":"1.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32600,`},
		{`{"jsonrpc":"2.0","id":1,"method":1}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32600,`},
		{`{"jsonrpc":"2.0","id":true,"method":"ping"}`, `{"jsonrpc":"2.0","error":{"code":-32600,`},
		{`{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":1,"result":{}}`},
		{`{"jsonrpc":"2.0","id":"1","method":"ping"}`, `{"jsonrpc":"2.0","id":"1","result":{}}`},
		{`{"jsonrpc":"2.0","id":1.50,"method":"ping"}`, `{"jsonrpc":"2.0","id":1.50,"result":{}}`},
	} {
		s.send(c.send)
		if got := s.next(); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s\n got %s\nwant %s…", c.send, got, c.want)
		}
	}
	s.rest()
}

func TestH5NotificationsAreNeverAnswered(t *testing.T) {
	s := begin(t, rowServer(), eras[0], Options{})
	s.send(
		`{"jsonrpc":"2.0","method":"notifications/nobody/knows"}`,
		`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"panics"}}`,
		`{"jsonrpc":"2.0","method":"ping"}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled"}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":[]}}`,
		`{"jsonrpc":"2.0","method":"notifications/progress","params":5}`,
		`{"method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","method":"notifications/roots/list_changed","params":"x"}`,
		alivePing)
	if got := s.rest(); len(got) != 1 || !strings.Contains(got[0], `"id":"ping"`) {
		t.Errorf("answered with %q", got)
	}
	if total, suppressed, _ := s.meter.counts(); total != suppressed || total != len(s.ledger.all()) || total == 0 {
		t.Errorf("counted %d, suppressed %d, recorded %d", total, suppressed, len(s.ledger.all()))
	}
}

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

func TestK1AFailedToolSendsTheWholeSystemError(t *testing.T) {
	for _, e := range eras {
		s := begin(t, rowServer(), e, Options{Dialect: dialect.Must("system-error")})
		s.send(e.say(request7("coded", "7")))
		m := wire.Parse([]byte(s.next()), wire.Limits{})
		v := toolEnvelope(t, &m)
		if yes, _ := m.Result().Path("isError").Bool(); !yes {
			t.Errorf("%s: no isError in %s", e.name, m.Bytes())
		}
		mirrored := systemEnvelope(t, m.Result().Path("structuredContent").Raw())
		if string(mirrored.Raw()) != string(v.Raw()) {
			t.Errorf("%s: the mirror says %s", e.name, mirrored.Raw())
		}
		if !v.Path("plan_hash").IsNull() || !v.Path("tool_name").Is("coded") {
			t.Errorf("%s: %s", e.name, v.Raw())
		}
		s.rest()
	}
}

func TestK5NoRejectionPassesTheEnvelopeOrTheAudit(t *testing.T) {
	calls := []string{callRow("nope", `{}`), callRow("typed", `{}`), callRow("typed", `{"path":5,"mode":"r"}`), callRow("typed", `[]`), callRow("typed", `"x"`)}
	s := begin(t, rowServer(), eras[0], Options{Dialect: dialect.Must("system-error")})
	for i, call := range calls {
		s.send(eras[0].say(call))
		m := wire.Parse([]byte(s.next()), wire.Limits{})
		if data := m.Error().Path("data"); data.Present() {
			for _, key := range systemKeys {
				if _, ok := data.Get(key); !ok {
					t.Errorf("%s: no %s in %s", call, key, data.Raw())
				}
			}
		} else {
			toolEnvelope(t, &m)
		}
		if n := len(s.ledger.all()); n != i+1 {
			t.Errorf("%s: %d entries after %d calls", call, n, i+1)
		}
	}
	s.rest()
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

func TestK9BeforeASessionItsMembersAreNull(t *testing.T) {
	server := rowServer()
	server.AddTool(&mcp.Tool{Name: "in-session", InputSchema: &jsonschema.Schema{Type: "object"}},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return nil, candor.New(candor.CodeRateLimited, "", candor.WithSession("s-1", "WINDSURF", "/w"))
		})
	s := begin(t, server, eras[0], Options{Dialect: dialect.Must("system-error")})
	s.send(eras[0].say(callRow("coded", `{}`)))
	m := wire.Parse([]byte(s.next()), wire.Limits{})
	for _, key := range []string{"session_id", "workspace_root", "role"} {
		if v := toolEnvelope(t, &m); !v.Path(key).IsNull() {
			t.Errorf("%s is set in %s", key, v.Raw())
		}
	}
	s.send(eras[0].say(callRow("in-session", `{}`)))
	m = wire.Parse([]byte(s.next()), wire.Limits{})
	if v := toolEnvelope(t, &m); !v.Path("session_id").Is("s-1") || !v.Path("workspace_root").Is("/w") || !v.Path("role").Is("WINDSURF") {
		t.Errorf("%s", v.Raw())
	}
	s.rest()
}

func TestK22TheSameConditionHasTheSameCode(t *testing.T) {
	for _, r := range matrix {
		if r.silent || r.before || r.limit > 0 || r.only == eras[1].name || r.code == candor.CodeResourceNotFound {
			continue
		}
		s := begin(t, rowServer(), eras[0], Options{})
		for range 5 {
			s.send(eras[0].say(r.send))
			m := wire.Parse([]byte(s.next()), wire.Limits{})
			if told, _ := envelope(t, &m); told.Code() != r.code {
				t.Errorf("%s: %v and %v", r.name, told.Code(), r.code)
			}
		}
		s.rest()
	}
}

func TestW4EveryRejectionUsesTheEnvelope(t *testing.T) {
	s := begin(t, rowServer(), eras[0], Options{Dialect: dialect.Must("tool-error"), Timeout: 20 * time.Millisecond})
	for call, want := range map[string]string{
		callRow("nope", `{}`):   "TOOL_NOT_FOUND",
		callRow("typed", `"x"`): "INVALID_ARGUMENTS",
		callRow("panics", `{}`): "INTERNAL_ERROR",
		callRow("waits", `{}`):  "CALL_TIMEOUT",
		request("7", "resources/read", `{"uri":"file:///broken"}`): "INTERNAL_ERROR",
	} {
		s.send(eras[0].say(call))
		m := wire.Parse([]byte(s.next()), wire.Limits{})
		v := m.Error().Path("data")
		if !v.Present() {
			first, _ := m.Result().Path("content", 0, "text").Str()
			v, _ = wire.ParseValue([]byte(first), wire.Limits{})
		}
		if !v.Path("code").Is(want) || !v.Path("retry", "kind").Present() || !v.Path("message").Present() {
			t.Errorf("want %s: %s", want, m.Bytes())
		}
	}
	s.rest()
}

func TestD14APanicIsAHandlerErrorWithoutStack(t *testing.T) {
	s := begin(t, rowServer(), eras[0], Options{Dialect: dialect.Must("dual")})
	s.send(eras[0].say(callRow("panics", `{}`)))
	m := wire.Parse([]byte(s.next()), wire.Limits{})
	first, _ := m.Result().Path("content", 0, "text").Str()
	v, _ := wire.ParseValue([]byte(first), wire.Limits{})
	if ok, set := v.Path("ok").Bool(); ok || !set || !v.Path("error", "code").Is("HANDLER_ERROR") {
		t.Errorf("%s", m.Bytes())
	}
	for _, leak := range []string{"goroutine", ".go:", "stack_trace"} {
		if strings.Contains(string(m.Bytes()), leak) {
			t.Errorf("%q is in %s", leak, m.Bytes())
		}
	}
	s.send(eras[0].say(callRow("fine", `{}`)))
	if got := s.next(); !strings.Contains(got, `"fine"`) {
		t.Error(got)
	}
	s.rest()
}
