package decodecmd

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
)

// readAll returns each value on a line, or "line N: bad".
func readAll(t *testing.T, text string) string {
	t.Helper()
	var out []string
	values := newValues(strings.NewReader(text))
	for {
		v, err := values.next()
		if errors.Is(err, io.EOF) {
			return strings.Join(out, " | ")
		}
		if err != nil {
			t.Fatal(err)
		}
		if v.err != nil {
			out = append(out, fmt.Sprintf("line %d: bad", v.line))
			continue
		}
		out = append(out, fmt.Sprintf("%d %s", v.line, strings.Join(strings.Fields(string(v.json.Raw())), "")))
	}
}

func TestValuesAreCutFromAnyStream(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"one per line", "{\"a\":1}\n{\"a\":2}\n", `1 {"a":1} | 2 {"a":2}`},
		{"no line end", `{"a":1}`, `1 {"a":1}`},
		{"spread", "{\n  \"a\": [\n    1\n  ]\n}\n\n{\"b\":2}", `1 {"a":[1]} | 7 {"b":2}`},
		{"not indented", "{\n\"a\":\n{\n\"b\": 1\n}\n}\n", `1 {"a":{"b":1}}`},
		{"blank lines inside", "{\n\n\"a\": 1\n\n}\n{\"b\":2}", `1 {"a":1} | 6 {"b":2}`},
		{"on one line", `{"a":1} {"b":2}{"c":3}`, `1 {"a":1} | 1 {"b":2} | 1 {"c":3}`},
		{"scalars", "1\n\"x\"\nnull", `1 1 | 2 "x" | 3 null`},
		{"cut, then good", "{\"a\":\n{\"b\":2}\n{\"c\":3}\n", `line 1: bad | 2 {"b":2} | 3 {"c":3}`},
		{"nonsense between", "{\"a\":1}\nnonsense\n{\"b\":2}", `1 {"a":1} | line 2: bad | 3 {"b":2}`},
		{"nonsense inside", "{\n  \"a\": nonsense\n}\n{\"b\":2}", `line 2: bad | 4 {"b":2}`},
		{"open quote", "{\"a\":\"x\n{\"b\":2}\n", `line 1: bad | 2 {"b":2}`},
		{"cut at the end", "{\"a\":1}\n{\"b\":", `1 {"a":1} | line 2: bad`},
		{"behind a value", "{\"a\":1} nonsense\n{\"b\":2}", `1 {"a":1} | line 1: bad | 2 {"b":2}`},
		{"byte order mark", "\ufeff{\"a\":1}\n", `1 {"a":1}`},
		{"carriage returns", "{\"a\":1}\r\n{\r\n\"b\":2}\r\n", `1 {"a":1} | 2 {"b":2}`},
		{"braces in strings", "{\"a\":\"}{\"\n}\n{\"b\":\"\\\"{\"}", `1 {"a":"}{"} | 3 {"b":"\"{"}`},
		{"nothing", "\n \n", ""},
	} {
		if got := readAll(t, c.in); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

// TestALongValueIsReadOnce: lines are not parsed again for each line that follows.
func TestALongValueIsReadOnce(t *testing.T) {
	text := "[\n" + strings.Repeat("  \"a line of a long array\",\n", 40_000) + "  1\n]\n"
	began := time.Now()
	if got := readAll(t, text); !strings.HasPrefix(got, "1 [") {
		t.Errorf("%.100s", got)
	}
	if took := time.Since(began); took > 20*time.Second { // linear is well below a second
		t.Errorf("took %v", took)
	}
}

func TestLinesAreBounded(t *testing.T) {
	text := strings.Repeat("x", maxLine) + "\n" + strings.Repeat("y", maxLine+1) + "\nz\n"
	lines := newLines(strings.NewReader(text))
	for _, want := range []line{{number: 1}, {number: 2, tooLong: true}, {number: 3}} {
		got, err := lines.next()
		if err != nil || got.number != want.number || got.tooLong != want.tooLong {
			t.Errorf("line %d: %d, %v, %v", want.number, got.number, got.tooLong, err)
		}
		if got.tooLong && len(got.bytes) != headKept {
			t.Errorf("%d bytes kept", len(got.bytes))
		}
	}
}
