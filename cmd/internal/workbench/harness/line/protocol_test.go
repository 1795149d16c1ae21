package line

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// row is a line with its expected responses, as [sign] formats them.
type row struct {
	line   string
	want   []string
	silent uint64 // failures that are not answered
}

// sign describes a response: its id, and the code of the error or the result.
func sign(r response) string {
	if r.Error != nil {
		return fmt.Sprintf("%s %d", r.ID, r.Error.Code)
	}
	return fmt.Sprintf("%s %s", r.ID, r.Result)
}

// signLine describes a line, which may be a batch.
func signLine(t testing.TB, line string) string {
	t.Helper()
	if !strings.HasPrefix(line, "[") {
		return sign(parse(t, line))
	}
	var all []json.RawMessage
	if err := json.Unmarshal([]byte(line), &all); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	var signs []string
	for _, one := range all {
		signs = append(signs, sign(parse(t, string(one))))
	}
	return "[" + strings.Join(signs, ", ") + "]"
}

const testMaxLine = 4000

var rows = []row{
	{line: `null`, want: []string{"null -32600"}},
	{line: `1`, want: []string{"null -32600"}},
	{line: `"text"`, want: []string{"null -32600"}},
	{line: `true`, want: []string{"null -32600"}},
	{line: `{}`, want: []string{"null -32600"}},
	{line: `[]`, want: []string{"null -32600"}},
	{line: `not json`, want: []string{"null -32700"}},
	{line: `{"jsonrpc":"2.0","id":1,"method":"sys/ping"`, want: []string{"null -32700"}},
	{line: `{"jsonrpc":"2.0","id":1,"method":"sys/ping"} x`, want: []string{"null -32700"}},
	{line: "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"t/echo\",\"params\":{\"text\":\"\xff\"}}", want: []string{"null -32700"}},
	{line: "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"t/echo\",\"params\":{\"text\":\"a\x00b\"}}", want: []string{"null -32700"}},
	{line: strings.Repeat("[", 1000) + strings.Repeat("]", 1000), want: []string{"null -32600"}},

	{line: `{"id":1,"method":"sys/ping"}`, want: []string{"1 -32600"}},
	{line: `{"jsonrpc":"1.0","id":1,"method":"sys/ping"}`, want: []string{"1 -32600"}},
	{line: `{"jsonrpc":2.0,"id":1,"method":"sys/ping"}`, want: []string{"1 -32600"}},
	{line: `{"jsonrpc":"2.0","id":1}`, want: []string{"1 -32600"}},
	{line: `{"jsonrpc":"2.0","id":1,"method":7}`, want: []string{"1 -32600"}},
	{line: `{"jsonrpc":"2.0","id":1,"method":null}`, want: []string{"1 -32600"}},
	{line: `{"jsonrpc":"2.0","method":1,"params":"bar"}`, want: []string{"null -32600"}},
	{line: `{"jsonrpc":"2.0","id":1,"method":"sys/ping","params":"bar"}`, want: []string{"1 -32600"}},
	{line: `{"jsonrpc":"2.0","id":1,"method":"sys/ping","params":null}`, want: []string{"1 {}"}},
	{line: `{"jsonrpc":"2.0","id":true,"method":"sys/ping"}`, want: []string{"null -32600"}},
	{line: `{"jsonrpc":"2.0","id":{"a":1},"method":"sys/ping"}`, want: []string{"null -32600"}},
	{line: `{"jsonrpc":"2.0","id":[1],"method":"sys/ping"}`, want: []string{"null -32600"}},
	{line: `{"jsonrpc":"2.0","id":null,"method":7}`, want: []string{"null -32600"}},
	{line: `{"jsonrpc":"2.0","id":1,"id":2,"method":"sys/ping"}`, want: []string{"null -32600"}},
	{line: `{"jsonrpc":"2.0","id":1,"method":"sys/ping","method":"t/full"}`, want: []string{"1 -32600"}},
	{line: `{"jsonrpc":"2.0","id":1,"Method":"sys/ping"}`, want: []string{"1 -32600"}},

	{line: `{"jsonrpc":"2.0","id":1,"method":"sys/ping"}`, want: []string{"1 {}"}},
	{line: `{"jsonrpc":"2.0","id":1.0,"method":"sys/ping"}`, want: []string{"1.0 {}"}},
	{line: `{"jsonrpc":"2.0","id":9007199254740993,"method":"sys/ping"}`, want: []string{"9007199254740993 {}"}},
	{line: `{"jsonrpc":"2.0","id":-1e2,"method":"sys/ping"}`, want: []string{"-1e2 {}"}},
	{line: `{"jsonrpc":"2.0","id":"","method":"sys/ping"}`, want: []string{`"" {}`}},
	{line: `{"jsonrpc":"2.0","id":"ü\u00fc\n","method":"sys/ping"}`, want: []string{`"ü\u00fc\n" {}`}},
	{line: `{"jsonrpc":"2.0","id":null,"method":"sys/ping"}`, want: []string{"null {}"}},
	{line: ` { "method" : "sys/ping" , "id" : 2 , "jsonrpc" : "2.0" , "more" : 1 } `, want: []string{"2 {}"}},
	{line: `{"jsonrpc":"2.0","id":3,"method":"t/echo","params":{"text":"é€𝄞"}}`, want: []string{`3 {"text":"é€𝄞"}`}},
	{line: `{"jsonrpc":"2.0","id":3,"method":"t/echo","params":["a"]}`, want: []string{`3 1000`}},
	{line: `{"jsonrpc":"2.0","id":4,"method":"t/raw"}`, want: []string{`4 { "a":  1}`}},
	{line: `{"jsonrpc":"2.0","id":5,"method":"no/such"}`, want: []string{`5 -32601`}},
	{line: `{"jsonrpc":"2.0","id":5,"method":""}`, want: []string{`5 -32601`}},
	{line: `{"jsonrpc":"2.0","id":6,"method":"t/full"}`, want: []string{`6 2400`}},
	{line: `{"jsonrpc":"2.0","id":7,"method":"t/panic"}`, want: []string{`7 -32603`}},
	{line: `{"jsonrpc":"2.0","id":8,"method":"t/goexit"}`, want: []string{`8 -32603`}},

	{line: `{"jsonrpc":"2.0","method":"sys/ping"}`},
	{line: `{"jsonrpc":"2.0","method":"no/such"}`, silent: 1},
	{line: `{"jsonrpc":"2.0","method":"t/full"}`, silent: 1},
	{line: `{"jsonrpc":"2.0","method":"t/panic"}`, silent: 1},
	{line: `{"jsonrpc":"2.0","method":"t/goexit"}`, silent: 1},
	{line: `{"jsonrpc":"2.0","method":"t/echo"}`, silent: 1},
	{line: `{"jsonrpc":"2.0","id":1,"result":{}}`, silent: 1},
	{line: `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}`, silent: 1},

	{line: `[1,2]`, want: []string{"[null -32600, null -32600]"}},
	{line: `[{"jsonrpc":"2.0","id":1,"method":"sys/ping"},{"jsonrpc":"2.0","method":"t/full"},7,{"jsonrpc":"2.0","id":"b","method":"t/full"}]`,
		want: []string{`[1 {}, null -32600, "b" 2400]`}, silent: 1},
	{line: `[{"jsonrpc":"2.0","method":"t/full"},{"jsonrpc":"2.0","method":"sys/ping"}]`, silent: 1},
	{line: `[{"jsonrpc":"2.0","id":1,"method":"sys/ping"},{"jsonrpc":"2.0","id":1,"id":1,"method":"sys/ping"}]`, want: []string{`[1 {}, null -32600]`}},
	{line: `[[]]`, want: []string{`[null -32600]`}},
	{line: `[{"jsonrpc":"2.0","id":1,"method":"sys/ping"},`, want: []string{"null -32700"}},
	{line: "[" + strings.Repeat("1,", 20) + "1]", want: []string{"null 1002"}},

	{line: strings.Repeat("x", testMaxLine+1), want: []string{"null 1002"}},
	{line: `{"jsonrpc":"2.0","id":1,"method":"t/echo","params":{"text":"` + strings.Repeat("é", testMaxLine) + `"}}`, want: []string{"null 1002"}},
	{line: ""},
	{line: " \t "},
}

func setTestLimits(o *Options) { o.MaxLine, o.MaxBatch = testMaxLine, 20 }

// errorsIn counts the errors among signed responses.
func errorsIn(signs []string) (n uint64) {
	for _, s := range signs {
		for part := range strings.SplitSeq(strings.Trim(s, "[]"), ", ") {
			last := part[strings.LastIndexByte(part, ' ')+1:]
			if len(last) > 3 && strings.Trim(last, "-0123456789") == "" {
				n++
			}
		}
	}
	return n
}

func TestEveryLineGetsItsResponse(t *testing.T) {
	for _, row := range rows {
		c := start(t, setTestLimits)
		c.write(row.line + "\n")
		checkRow(t, c, row, c.end())
	}
}

func checkRow(t *testing.T, c *client, row row, lines []string) {
	t.Helper()
	var got []string
	for _, line := range lines {
		got = append(got, signLine(t, line))
	}
	if !slices.Equal(got, row.want) {
		t.Errorf("%.80s\ngot  %q\nwant %q", row.line, got, row.want)
	}
	checkCounts(t, c, errorsIn(row.want), row.silent)
}

// checkCounts compares the counted and recorded failures with the sent ones.
func checkCounts(t testing.TB, c *client, sent, silent uint64) {
	t.Helper()
	stats := c.meter.Stats()
	sum := uint64(0)
	for _, n := range stats.ByCode {
		sum += n
	}
	if stats.Total != sent+silent || stats.Suppressed != silent || sum != stats.Total || uint64(len(c.record.all())) != stats.Total {
		t.Errorf("sent %d, silent %d: total %d, suppressed %d, sum %d, recorded %d", sent, silent, stats.Total, stats.Suppressed, sum, len(c.record.all()))
	}
}

func TestByteOrderMarkIsSkippedAtTheStartOnly(t *testing.T) {
	c := start(t, nil)
	const mark, ping = "\ufeff", `{"jsonrpc":"2.0","id":1,"method":"sys/ping"}`
	if r := c.ask(mark + ping); sign(r) != "1 {}" {
		t.Errorf("at the start: %s", r.line)
	}
	if r := c.ask(mark + ping); sign(r) != "null -32700" {
		t.Errorf("later: %s", r.line)
	}
}
