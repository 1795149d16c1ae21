package boundary_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"unicode"

	"github.com/modelcontextprotocol/go-sdk/mcp"

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
			t.Fatalf("%s: no answer to %q", p.way.name, p.text)
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

// cleanTexts lists typical error texts of servers that contain no secret; # is replaced by a number.
var cleanTexts = []string{
	"the disk is on fire", "connection reset by peer", "no rows in result set", "record # not found", "unexpected end of JSON input",
	"invalid character 'x' looking for beginning of value", "column \"name\" of relation \"users\" does not exist", "context deadline exceeded after #s",
	"commit 3f2a9c1b7d8e4f5061728394a5b6c7d8e9f0a1b2 not found", "request 550e8400-e29b-41d4-a716-44665544000# failed", "HTTP 503 Service Unavailable",
	"GET https://api.example.com/v1/items/# returned 404", "POST /api/v2/orders/#/items: 422 Unprocessable Entity", "rate limit exceeded, retry after # seconds",
	"version 1.#.3-rc.1 is not supported", "field 'address.zip_code' must match ^[0-9]{5}$", "expected string at /items/#/name, got number",
	"the branch feature/login-form-# has conflicts", "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855 does not match",
	"Die Datei wurde nicht gefunden (Zeile #)", "ファイルが見つかりません #", "le fichier n’existe pas: étape #", "job #-abc is still queued", "token expired",
	"invalid password", "missing API key", "the session has ended", "permission denied for table orders", "dial tcp 10.0.0.#:5432: connect: connection refused",
	"lookup db.internal.example on 10.0.0.53:53: no such host", "x509: certificate signed by unknown authority", "strconv.Atoi: parsing \"abc#\": invalid syntax",
	"duplicate key value violates unique constraint \"users_email_key\"", "ENOENT: no such file or directory, open 'notes#.txt'", "exit status #",
	"the model gpt-4o-mini does not support images", "2026-01-02T03:04:0#Z is not a working day", "user ann@example.com is not a member of team-#",
	"TypeError: Cannot read properties of undefined (reading 'map')", "KeyError: 'user_id'", "package github.com/acme/tool/v# is not in std",
	"selector \"#main > div.card:nth-child(#)\" matched nothing", "the value of max_tokens must be at most #", "quota of project-# is used up",
	"Unknown option --dry-run", "cannot parse 'Mon, 0# Jan' as a date", "ORA-00942: table or view does not exist", "ERROR 1146 (42S02): Table 'shop.orders#' doesn't exist",
	"image/png is not accepted", "the queue has # messages and takes no more",
}

// TestR12CleanErrorsStayAsTheyAre counts the clean texts that redaction changes.
func TestR12CleanErrorsStayAsTheyAre(t *testing.T) {
	said := way{name: "text", fail: func(text, _ string) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: text}}, StructuredContent: map[string]any{"said": text}}, nil
	}}
	plain := way{name: "error", fail: func(text, _ string) (*mcp.CallToolResult, error) { return nil, errors.New(text) }}
	var all []plant
	for i := range 10 {
		for _, text := range cleanTexts {
			text = strings.ReplaceAll(text, "#", fmt.Sprint(i))
			all = append(all, plant{way: said, text: text}, plant{way: plain, text: text})
		}
	}
	quiet := slog.New(slog.DiscardHandler)
	answers := overPipes(t, leakyServer(all, quiet), boundary.Options{Logger: quiet}, requests(all))
	wrong := 0
	for i, p := range all {
		var doc struct {
			Result struct{ Content []struct{ Text string } }
		}
		if err := json.Unmarshal([]byte(answers[i]), &doc); err != nil {
			t.Fatalf("%v in %s", err, answers[i])
		}
		blocks := doc.Result.Content
		if strings.Contains(answers[i], "[redacted") || p.way.name == said.name && (len(blocks) < 2 || blocks[1].Text != p.text) {
			wrong++
			t.Logf("%q became %s", p.text, answers[i])
		}
	}
	t.Logf("%d of %d clean errors were changed", wrong, len(all))
	if wrong*100 > len(all) {
		t.Error("more than 1 % of clean errors were changed")
	}
}
