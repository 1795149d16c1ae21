package boundary_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"unicode"

	"github.com/candor-mcp/candor/boundary"
)

// unsafe lists the invisible and control characters: Unicode's categories Cc, Cf and Co. Valid strings contain no characters of Cs.
var unsafe = []*unicode.RangeTable{unicode.Cc, unicode.Cf, unicode.Co}

// hides reports whether an error must not contain the character.
func hides(r rune) bool { return r != '\n' && r != '\t' && unicode.In(r, unsafe...) }

// hiders returns strings that together contain all unsafe characters, each between letters. The strings are short enough not to be
// truncated, except for the private use planes, where a string has thousands of characters.
func hiders() (texts []string) {
	var b strings.Builder
	n := 0
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !unicode.In(r, unsafe...) && !bidiMark(r) {
			continue
		}
		b.WriteString("a")
		b.WriteRune(r)
		if n++; n%180 == 0 && (r <= 0xffff || n%5400 == 0) {
			texts = append(texts, b.String())
			b.Reset()
		}
	}
	return append(texts, b.String())
}

func bidiMark(r rune) bool { return unicode.Is(unicode.Bidi_Control, r) }

// sequences lists terminal control sequences and invalid strings.
var sequences = []string{
	"\x1b[31mred\x1b[0m", "\x1b]0;title\x07after", "\x1b]8;;https://evil.example\x1b\\link\x1b]8;;\x1b\\", "\x1b[2J\x1b[H", "\u009b31mred",
	"\x1bPq#0\x1b\\", "\xff\xfe", "cut \xf0\x9f\x98", "half \xed\xa0\x80 of a pair", "a\r\nb\rc", "back\b\b\bspace",
	"\U000e0041\U000e0042\U000e007f tags", "\u202egnp.exe\u202c", "\u2066isolated\u2069", "zero\u200bwidth\u2060\ufeff",
}

// TestR13NothingThatHidesOrSteersLeaves puts every unsafe character into the output of a tool and the requests of a client.
func TestR13NothingThatHidesOrSteersLeaves(t *testing.T) {
	var all []plant
	for _, text := range append(hiders(), sequences...) {
		for _, w := range toolWays {
			switch w.name {
			case "error", "text of a failed result", "data of a JSON-RPC error", "structured content of a failed result":
				all = append(all, plant{way: w, text: text, secret: text})
			}
		}
	}
	for _, text := range append(hiders()[:3], sequences...) { // texts that are put into the request unescaped
		for _, w := range clientWays {
			all = append(all, plant{way: w, secret: strings.Trim(string(mustJSON(t, text)), `"`)})
		}
	}
	answers := overPipes(t, leakyServer(all, slog.New(slog.DiscardHandler)), boundary.Options{Logger: slog.New(slog.DiscardHandler)}, requests(all))
	bad := map[string]int{}
	for i, p := range all {
		if answers[i] == "" {
			t.Fatalf("%s: no answer to %.200q", p.way.name, p.text)
		}
		var doc any
		if err := json.Unmarshal([]byte(answers[i]), &doc); err != nil {
			t.Fatalf("%v in %s", err, answers[i])
		}
		if where := hidden(doc, ""); where != "" {
			if bad[p.way.name]++; bad[p.way.name] == 1 {
				t.Errorf("%s: %s in %.1500s", p.way.name, where, answers[i])
			}
		}
	}
	for name, n := range bad {
		t.Errorf("%s: %d answers hold what hides or steers", name, n)
	}
	t.Logf("%d failures", len(all))
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// hidden returns the path of the first unsafe character in a JSON value, or "".
func hidden(v any, at string) string {
	switch v := v.(type) {
	case string:
		for _, r := range v {
			if hides(r) {
				return fmt.Sprintf("%U at %s", r, at)
			}
		}
	case []any:
		for i, item := range v {
			if where := hidden(item, fmt.Sprint(at, "/", i)); where != "" {
				return where
			}
		}
	case map[string]any:
		for name, item := range v {
			if where := hidden(name, at+" (a name)"); where != "" {
				return where
			}
			if where := hidden(item, at+"/"+name); where != "" {
				return where
			}
		}
	}
	return ""
}
