package bridge_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode"

	"github.com/candor-mcp/candor/cmd/internal/testing/httpgatetest"
	"github.com/candor-mcp/candor/internal/testing/sweep"
)

// steers reports whether a character is invisible or controls display: all of Unicode's Cc, Cf and Co, and the direction marks.
// Valid text contains no Cs character, since a lone surrogate is invalid or an escape.
func steers(r rune) bool {
	return r != '\n' && r != '\t' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Bidi_Control)
}

// steering returns texts that contain all of these characters. Many private-use characters share one text.
func steering() (texts []string) {
	var b strings.Builder
	messages := 0
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !steers(r) {
			continue
		}
		fmt.Fprintf(&b, "a%c", r)
		if messages++; r < 0xe000 && messages%150 == 0 || messages%6000 == 0 {
			texts = append(texts, b.String())
			b.Reset()
		}
	}
	return append(texts, b.String())
}

// tricks affect a terminal or a reader, or are invalid text once they are decoded.
var tricks = []string{
	"\x1b[31mred\x1b[0m", "\x1b]0;title\x07after", "\x1b]8;;https://evil.example\x1b\\link\x1b]8;;\x1b\\", "\x1b[2J\x1b[H", "\u009b31mred", "\x1bPq#0\x1b\\",
	"a\r\nb\rc", "back\b\b\bspace", "\U000e0041\U000e0042\U000e007f tags", "\u202egnp.exe\u202c", "\u2066isolated\u2069", "zero\u200bwidth\u2060\ufeff", "soft\u00adhyphen",
}

// rawTricks are similar characters as an upstream may escape them in JSON.
var rawTricks = []string{`\ud800`, `half \udc00 of a pair`, `\u001b[31m`, `\u202e`, `\udb40\udc41`, `\u0000`, `\u0085`, `\ue000`}

// hiding returns such texts in every way that an upstream has.
func hiding(own []way) (all []plant) {
	for i, text := range append(steering(), tricks...) {
		for j, w := range append(append([]way{}, leakyWays...), own...) {
			if len(text) < 2000 && (i+j)%sweep.Step(2, 4) == 0 || (i+j)%(25*sweep.Step(2, 8)) == 0 { // the long ones alternate
				all = append(all, plant{way: w.name, secret: "s", act: w.act(text, text)})
			}
		}
	}
	for _, raw := range rawTricks {
		for _, w := range leakyWays {
			a := w.act("@@", "@@")
			a.Say = strings.ReplaceAll(a.Say, "@@", raw)
			all = append(all, plant{way: w.name + " with " + raw, secret: "s", act: a})
		}
	}
	return all
}

// TestR13NothingThatHidesOrSteersLeaves puts every such character into the upstream's messages, over both transports, and checks
// that the client gets none.
func TestR13NothingThatHidesOrSteersLeaves(t *testing.T) {
	for _, mode := range httpgatetest.Redacting {
		for over, own := range map[string][]way{"a child": childWays, "HTTP": httpWays} {
			s, all := newScene(t), hiding(own)
			send := s.wrap
			if over == "HTTP" {
				send = s.door
			}
			answers := send(t, mode, all)
			bad := map[string]int{}
			for i, p := range all {
				if where := steered(answers[i]); where != "" {
					if bad[p.way]++; bad[p.way] == 1 {
						t.Errorf("%s over %s, %s: %s in %.1000q", mode, over, p.way, where, answers[i])
					}
				}
			}
			if where := steered(s.stderr.String()); where != "" {
				t.Errorf("%s: %s in the error output", over, where)
			}
			t.Logf("%s over %s: %d failures", mode, over, len(all))
			_ = s.ledger.Close()
		}
	}
}

// steered returns the first such character in an answer, which may be JSON, events with JSON or neither. It returns "" if there
// is none.
func steered(answer string) string {
	var doc any
	data := strings.TrimRight(strings.TrimPrefix(answer, "data: "), "\r\n")
	if json.Unmarshal([]byte(data), &doc) != nil {
		doc = strings.ReplaceAll(answer, "\r", "") // which also ends event lines
	}
	return steeredValue(doc, "")
}

func steeredValue(v any, at string) string {
	switch v := v.(type) {
	case string:
		for _, r := range v {
			if steers(r) {
				return fmt.Sprintf("%U at %s", r, at)
			}
		}
	case []any:
		for i, item := range v {
			if where := steeredValue(item, fmt.Sprint(at, "/", i)); where != "" {
				return where
			}
		}
	case map[string]any:
		for name, item := range v {
			if where := steeredValue(name, at+" (a name)"); where != "" {
				return where
			}
			if where := steeredValue(item, at+"/"+name); where != "" {
				return where
			}
		}
	}
	return ""
}
