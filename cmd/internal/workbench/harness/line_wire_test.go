package harness_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor/wire"
)

// lineCase is a line with the ids and codes of its responses, "" if there must be none. Those of a batch are in
// brackets.
type lineCase struct{ line, want string }

const lineLimit = 5000

var requestCases = []lineCase{
	{`null`, "null -32600"},
	{`7`, "null -32600"},
	{`"text"`, "null -32600"},
	{`[]`, "null -32600"},
	{`{}`, "null -32600"},
	{`nonsense`, "null -32700"},
	{`{"jsonrpc":"2.0","id":1,"method":"sys/ping"`, "null -32700"},
	{`{"id":1,"method":"sys/ping"}`, "1 -32600"},
	{`{"jsonrpc":"1.0","id":1,"method":"sys/ping"}`, "1 -32600"},
	{`{"jsonrpc":"2.0","id":1,"method":7}`, "1 -32600"},
	{`{"jsonrpc":"2.0","id":1}`, "1 -32600"},
	{`{"jsonrpc":"2.0","id":1,"method":"sys/ping","params":"x"}`, "1 -32600"},
	{`{"jsonrpc":"2.0","id":{},"method":"sys/ping"}`, "null -32600"},
	{`{"jsonrpc":"2.0","id":1,"id":1,"method":"sys/ping"}`, "null -32600"},
	{`{"jsonrpc":"2.0","id":"a\ud800","method":"sys/ping"}`, "null -32600"},
	{`{"jsonrpc":"2.0","id":"\udc00","method":"no/such"}`, "null -32600"},
	{`{"jsonrpc":"2.0","id":3,"method":"sys/ping","params":{"x":"\ud800"}}`, "3 -32600"},
	{`[{"jsonrpc":"2.0","id":"a\ud800","method":"sys/ping"}]`, "[null -32600]"},
	{`{"jsonrpc":"2.0","id":1,"method":"sys/ping","method":"x"}`, "1 -32600"},
	{`{"jsonrpc":"2.0","id":1.0,"method":"sys/ping"}`, "1.0 ok"},
	{`{"jsonrpc":"2.0","id":9007199254740993,"method":"sys/ping"}`, "9007199254740993 ok"},
	{`{"jsonrpc":"2.0","id":"\u00e9 ü","method":"sys/ping"}`, `"\u00e9 ü" ok`},
	{`{"jsonrpc":"2.0","id":null,"method":"sys/ping"}`, "null ok"},
	{`{"jsonrpc":"2.0","id":2,"method":"no/such"}`, "2 -32601"},
	{`{"jsonrpc":"2.0","id":2,"method":"sys/ping","params":["x"]}`, "2 1000"},
	{`{"jsonrpc":"2.0","id":2,"method":"pw/nothing"}`, "2 1006"},
	{`{"jsonrpc":"2.0","id":4,"method":"sys/ping","params":null}`, "4 ok"},
	{`[[]]`, "[null -32600]"},
	{strings.Repeat("[", 129) + strings.Repeat("]", 129), "null -32600"},
	{`[` + strings.Repeat(`{"jsonrpc":"2.0","method":"sys/ping"},`, 100) + `{"jsonrpc":"2.0","id":5,"method":"sys/ping"}]`, "null 1002"},
	{`[1,{"jsonrpc":"2.0","id":1,"method":"sys/ping"},{"jsonrpc":"2.0","method":"no/such"}]`, "[null -32600, 1 ok]"},
}

var notificationCases = []lineCase{
	{`{"jsonrpc":"2.0","method":"sys/ping"}`, ""},
	{`{"jsonrpc":"2.0","method":"no/such"}`, ""},
	{`{"jsonrpc":"2.0","method":"sys/ping","params":{"x":1}}`, ""},
	{`[{"jsonrpc":"2.0","method":"sys/ping"},{"jsonrpc":"2.0","method":"no/such"}]`, ""},
	{`{"jsonrpc":"2.0","method":"sys/ping","params":null}`, ""},
	{`[{"jsonrpc":"2.0","method":"sys/ping"}` + strings.Repeat(`,{"jsonrpc":"2.0","method":"sys/ping"}`, 100) + `]`, ""},
}

var oversizeCases = []lineCase{
	{strings.Repeat("x", lineLimit+1), "null 1002"},
	{`{"jsonrpc":"2.0","id":1,"method":"sys/ping","params":{"x":"` + strings.Repeat("é", lineLimit) + `"}}`, "null 1002"},
}

func outcomeOf(v wire.Value) string {
	if v.Type() == wire.TypeArray {
		var all []string
		for one := range v.Elements() {
			all = append(all, outcomeOf(one))
		}
		return "[" + strings.Join(all, ", ") + "]"
	}
	outcome := "ok"
	if code := v.Path("error", "code"); code.Present() {
		outcome = string(code.Raw())
	}
	return string(v.Path("id").Raw()) + " " + outcome
}

// checkCases sends text, closes the input and compares all responses with those of the cases, in any order.
func checkCases(t *testing.T, cases []lineCase, send func(io.Writer)) {
	t.Helper()
	h := start(t, setup{env: []string{fmt.Sprintf("MCP_MAX_LINE_LEN=%d", lineLimit)}})
	var want, got []string
	for _, c := range cases {
		if c.want != "" {
			want = append(want, c.want)
		}
	}
	go func() {
		send(h.in)
		_ = h.in.Close()
	}()
	for {
		line, err := h.receive()
		if err != nil {
			break
		}
		v, err := wire.ParseValue(line, wire.Limits{})
		if err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		got = append(got, outcomeOf(v))
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if code := h.end(); code != 0 {
		t.Errorf("exit code %d: %s", code, &h.said)
	}
}

func joined(cases []lineCase, end string) func(io.Writer) {
	return func(w io.Writer) {
		for _, c := range cases {
			_, _ = io.WriteString(w, c.line+end)
		}
	}
}

func TestH4MessagesGetJSONRPCAnswers(t *testing.T) {
	t.Parallel()
	checkCases(t, requestCases, joined(requestCases, "\n"))
	h := start(t, setup{})
	for _, c := range requestCases { // one after the other, so that each gets its response
		h.send(c.line)
		line := h.line()
		if v, err := wire.ParseValue(line, wire.Limits{}); err != nil || outcomeOf(v) != c.want {
			t.Errorf("%s: want %s: %s", c.line, c.want, line)
		}
	}
}

func TestH5NotificationsAreNeverAnswered(t *testing.T) {
	t.Parallel()
	checkCases(t, notificationCases, joined(notificationCases, "\n"))
}

func TestH6OversizeLineGetsErrorAndOthersAreServed(t *testing.T) {
	t.Parallel()
	ping := lineCase{`{"jsonrpc":"2.0","id":5,"method":"sys/ping"}`, "5 ok"}
	cases := slices.Concat([]lineCase{ping, ping}, oversizeCases, []lineCase{ping, ping})
	checkCases(t, cases, func(w io.Writer) { // in one chunk
		var all bytes.Buffer
		joined(cases, "\n")(&all)
		_, _ = w.Write(all.Bytes())
	})
}

// TestH7AnyChunksGiveTheSameAnswers sends all cases in many orders on one stream, split at random, with both line ends.
func TestH7AnyChunksGiveTheSameAnswers(t *testing.T) {
	t.Parallel()
	cases := slices.Concat(requestCases, notificationCases, oversizeCases)
	var all bytes.Buffer
	var sent []lineCase
	for range 5 {
		for _, end := range []string{"\n", "\r\n"} {
			rand.Shuffle(len(cases), func(i, j int) { cases[i], cases[j] = cases[j], cases[i] })
			joined(cases, end)(&all)
			sent = append(sent, cases...)
		}
	}
	checkCases(t, sent, func(w io.Writer) {
		for all.Len() > 0 {
			_, _ = w.Write(all.Next(1 + rand.IntN(200)))
			if rand.IntN(4) == 0 {
				time.Sleep(time.Millisecond) // so that the harness reads a part of a line; otherwise the pipe joins the chunks
			}
		}
	})
}

func TestH12VerboseBoundsTheStack(t *testing.T) {
	t.Parallel()
	for verbose, most := range map[string]int{"": 0, "1": 1, "2": 2, "full": 100} {
		h := start(t, setup{flags: []string{"--domain", "python"}, env: []string{"MCP_ERRORS_VERBOSE=" + verbose}})
		failed := h.ask("py/script", `{"name":"x"}`).fails(2003, "python/E_PY_SCRIPT_NOT_FOUND")
		stack, _ := failed.m.Error().Path("data", "stack").Str()
		frames := strings.FieldsFunc(stack, func(r rune) bool { return r == '\n' })
		if len(frames) > most || most > 0 && len(frames) == 0 {
			t.Errorf("%q: %q", verbose, frames)
		}
		for _, f := range frames {
			if !strings.HasPrefix(f, "python.") || strings.ContainsAny(f, `/\`) {
				t.Errorf("%q: %q", verbose, f)
			}
		}
	}
}

func TestH14RateLimitSaysWhenToRetry(t *testing.T) {
	t.Parallel()
	for mode, other := range map[string]int64{"global": 3000, "method": 2003} {
		h := start(t, setup{flags: []string{"--domain", "python"}, env: []string{"MCP_RATE_LIMIT=1", "MCP_RATE_LIMIT_CAPACITY=2",
			"MCP_RATE_LIMIT_REFILL_MS=2000000", "MCP_RATE_LIMIT_MODE=" + mode}})
		h.ask("py/scripts", "{}")
		h.ask("py/scripts", "{}")
		refused := h.ask("py/scripts", "{}").fails(3000, "rate-limit/E_RL_EXCEEDED")
		e := refused.m.Error()
		retryable, _ := e.Path("data", "retryable").Bool()
		if wait, _ := e.Path("data", "retryAfterMs").Int64(); !retryable || wait < 1 || wait > 1_000_000 {
			t.Errorf("%s: %s", mode, e.Raw())
		}
		if got := h.ask("py/script", `{"name":"x"}`).number(); got != other {
			t.Errorf("%s: another method gets %d", mode, got)
		}
		for range 10 {
			h.ask("sys/ping", "{}").result() // exempt
		}
	}
}

// TestH14CallSucceedsAfterRetryDelay empties the bucket, waits for the delay in the refusal and calls again.
func TestH14CallSucceedsAfterRetryDelay(t *testing.T) {
	t.Parallel()
	const refill = 300
	for _, mcp := range []bool{false, true} {
		h := start(t, setup{mcp: mcp, flags: []string{"--domain", "filesystem"}, env: []string{"MCP_RATE_LIMIT=1", "MCP_RATE_LIMIT_CAPACITY=1",
			fmt.Sprintf("MCP_RATE_LIMIT_REFILL_MS=%d", refill)}})
		r := h.call("fs/list", "{}")
		for end := time.Now().Add(patience); r.number() == 0 && time.Now().Before(end); { // the bucket may fill between two calls
			r = h.call("fs/list", "{}")
		}
		wait := r.fails(3000, "rate-limit/E_RL_EXCEEDED").retryMs()
		if wait < 1 || wait > refill {
			t.Errorf("MCP %v: retryAfterMs is %d", mcp, wait)
		}
		time.Sleep(time.Duration(wait) * time.Millisecond) // as the error says
		h.call("fs/list", "{}").result()
	}
}

func TestH16CausesAreShownInDevelopmentOnly(t *testing.T) {
	t.Parallel()
	for _, node := range []string{"", "production", "development"} {
		for _, mcp := range []bool{false, true} {
			scripts := t.TempDir()
			h := start(t, setup{mcp: mcp, flags: []string{"--domain", "python"}, env: []string{"MCP_PYTHON_SCRIPTS=" + scripts, "NODE_ENV=" + node}})
			failed := h.call("py/script", `{"name":"missing"}`).fails(2003, "python/E_PY_SCRIPT_NOT_FOUND")
			text := string(failed.m.Bytes())
			if strings.Contains(text, "no such file") != (node == "development") || strings.Contains(text, scripts) {
				t.Errorf("NODE_ENV=%q, MCP %v: %s", node, mcp, text)
			}
		}
	}
}

// TestWholeNumbersAreAcceptedInEveryForm sends numbers that a schema accepts as integers.
func TestWholeNumbersAreAcceptedInEveryForm(t *testing.T) {
	t.Parallel()
	for _, mcp := range []bool{false, true} {
		h := start(t, setup{mcp: mcp, flags: []string{"--domain", "kg", "--domain", "memory-bank", "--domain", "filesystem", "--domain", "sql"}, env: []string{"MCP_SQL_WRITE=1"}})
		h.call("sql/execute", `{"sql":"CREATE TABLE t (a)"}`).result()
		for _, number := range []string{"100", "1e2", "1E2", "100.0", "1000e-1"} {
			h.call("kg/query", fmt.Sprintf(`{"limit":%s}`, number)).result()
			h.call("mb/list", fmt.Sprintf(`{"limit":%s}`, number)).result()
			h.call("mb/search", fmt.Sprintf(`{"q":"x","limit":%s}`, number)).result()
			h.call("fs/list", fmt.Sprintf(`{"path":".","limit":%s}`, number)).result()
			got := string(h.call("sql/query", fmt.Sprintf(`{"sql":"SELECT typeof(?1)","params":[1.0],"limit":%s}`, number)).result().Path("rows").Raw())
			if got != `[["real"]]` {
				t.Errorf("limit %s: %s", number, got)
			}
		}
		for _, number := range []string{"1e99", "1.5", "0", `"100"`} {
			h.call("kg/query", fmt.Sprintf(`{"limit":%s}`, number)).fails(1000, "common/E_INVALID_PARAMS")
		}
	}
}
