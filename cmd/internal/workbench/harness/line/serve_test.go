package line

import (
	"bytes"
	"flag"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor/internal/framing"
	"github.com/candor-mcp/candor/wire"
)

func TestReadyLineIsFirstAndListsMethods(t *testing.T) {
	c := start(t, func(o *Options) { o.Name = `a "name"` })
	if c.ready.Type != "ready" || c.ready.Server == nil || *c.ready.Server != `a "name"` {
		t.Errorf("%s", c.ready.line)
	}
	want := []string{"sys/errorStats", "sys/metrics", "sys/ping", "sys/promMetrics", "sys/setLogLevel", "t/echo"}
	for _, name := range want {
		if !slices.Contains(c.ready.Methods, name) {
			t.Errorf("%s is missing in %s", name, c.ready.line)
		}
	}
	if !strings.Contains(c.ready.line, `"schema":{"errorCodes":1}`) {
		t.Errorf("%s", c.ready.line)
	}
	if rest := c.end(); rest != nil {
		t.Errorf("further lines: %q", rest)
	}
}

func TestReadyLineLeavesOutMetricsThatAreOff(t *testing.T) {
	c := start(t, func(o *Options) { o.ErrorStats = false })
	if slices.Contains(c.ready.Methods, "sys/errorStats") || c.ready.Server != nil {
		t.Errorf("%s", c.ready.line)
	}
	if r := c.ask(`{"jsonrpc":"2.0","id":1,"method":"sys/errorStats"}`); r.Error == nil || r.Error.Code != -32601 {
		t.Errorf("%s", r.line)
	}
}

func TestOutcomes(t *testing.T) {
	for _, test := range []struct {
		name, method, params string
		code                 int
		symbol               string
		change               func(*Options)
	}{
		{name: "application error", method: "t/full", code: 2400, symbol: "E_KG_FULL"},
		{name: "missing parameter", method: "t/echo", params: `{}`, code: 1000, symbol: "E_INVALID_PARAMS"},
		{name: "positional parameters", method: "t/echo", params: `["a"]`, code: 1000, symbol: "E_INVALID_PARAMS"},
		{name: "unknown parameter", method: "t/full", params: `{"x":1}`, code: 1000, symbol: "E_INVALID_PARAMS"},
		{name: "unmapped", method: "t/plain", code: -32603, symbol: "INTERNAL_ERROR"},
		{name: "panic", method: "t/panic", code: -32603, symbol: "INTERNAL_ERROR"},
		{name: "goexit", method: "t/goexit", code: -32603, symbol: "INTERNAL_ERROR"},
		{name: "not encodable", method: "t/nan", code: 4015, symbol: "RESULT_NOT_ENCODABLE"},
		{name: "unknown method", method: "t/ehco", code: -32601, symbol: "METHOD_NOT_FOUND"},
		{name: "deadline", method: "t/wait", code: 1001, symbol: "E_TIMEOUT", change: func(o *Options) { o.Timeout = time.Millisecond }},
		{name: "disabled", method: "py/run", code: 1006, symbol: "E_UNSUPPORTED",
			change: func(o *Options) { o.Disabled = []Disabled{{Prefix: "py", Hint: "set MCP_DOMAINS"}} }},
		{name: "log level", method: "sys/setLogLevel", params: `{"level":"loud"}`, code: -32602, symbol: "INVALID_REQUEST_PARAMS"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := start(t, test.change)
			line := `{"jsonrpc":"2.0","id":"a","method":"` + test.method + `"`
			if test.params != "" {
				line += `,"params":` + test.params
			}
			r := c.ask(line + "}")
			if string(r.ID) != `"a"` || r.JSONRPC != "2.0" || r.Error == nil {
				t.Fatal(r.line)
			}
			d := r.Error.Data
			if r.Error.Code != test.code || d.Symbol != test.symbol || d.Domain == "" || d.Retryable == nil || d.Canonical == nil {
				t.Errorf("want %d %s: %s", test.code, test.symbol, r.line)
			}
			if strings.Contains(r.line, "/no/such") || strings.Contains(r.line, "secret") || strings.Contains(r.line, "no such file") || d.Stack != "" {
				t.Errorf("the client sees the cause: %s", r.line)
			}
			if stats := c.meter.Stats(); stats.Total != 1 || stats.BySymbol[test.symbol] != 1 {
				t.Errorf("counted %+v", stats.Breakdown)
			}
			entries := c.record.all()
			if len(entries) != 1 || entries[0].code != test.symbol || entries[0].envelope != r.line {
				t.Errorf("recorded %+v", entries)
			}
			if r := c.ask(`{"jsonrpc":"2.0","id":1,"method":"sys/ping"}`); string(r.Result) != "{}" {
				t.Errorf("the server does not go on: %s", r.line)
			}
		})
	}
}

// TestFlushAfterStopStartsNothing makes the reader flush after the server has stopped, as it may when the client closes
// the output before it has sent a line. Counting the flush as a call ended the process with "close of closed channel".
func TestFlushAfterStopStartsNothing(t *testing.T) {
	s, err := New(nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := newConn(t.Context(), s, framing.NewLineReader(strings.NewReader(""), wire.Limits{}), newOutput(io.Discard))
	c.stop()
	if c.reader.flush() {
		t.Error("the reader goes on after the stop")
	}
	select {
	case <-c.idle:
	default:
		t.Error("the connection is not idle")
	}
	if err := c.out.close(); err != nil {
		t.Error(err)
	}
}

var memoryLines = flag.Int("lines", 100_000, "lines of the memory test; a million takes some seconds")

// TestMemoryIsFlatOverManyLines compares the heap after a tenth of the lines with the heap after all of them.
func TestMemoryIsFlatOverManyLines(t *testing.T) {
	c := start(t, func(o *Options) { o.Recorder = nil })
	chunk := []byte(pingLine + `{"jsonrpc":"2.0","id":1,"method":"t/full"}` + "\n" + `{"jsonrpc":"2.0","id":1,"method":"made/up"}` + "\nnull\n" +
		`{"jsonrpc":"2.0","id":"x","method":"t/echo","params":{"text":"hello"}}` + "\n")
	const perChunk = 5
	chunk = bytes.Repeat(chunk, 100)
	send := func(lines int) {
		go func() {
			for sent := 0; sent < lines; sent += perChunk * 100 {
				_, _ = c.in.Write(chunk)
			}
		}()
		for range lines {
			if _, err := c.out.ReadSlice('\n'); err != nil {
				t.Fatal(err)
			}
		}
	}
	c.out.Reset(io.Reader(c.outEnd))
	send(*memoryLines / 10)
	before := heap()
	send(*memoryLines)
	if after := heap(); after > before+2<<20 {
		t.Errorf("the heap grew from %d to %d bytes over %d lines", before, after, *memoryLines)
	}
}
