package wire_test

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/candor-mcp/candor/wire"
)

func TestAppendStringEscapesWhatItMustAndNoMore(t *testing.T) {
	for in, want := range map[string]string{
		"":                   `""`,
		"plain <b>&'/":       `"plain <b>&'/"`,
		"\"\\\b\f\n\r\t":     `"\"\\\b\f\n\r\t"`,
		"\x00\x1f\x7f":       "\"\\u0000\\u001f\x7f\"",
		"é日😀":                `"é日😀"`,
		"a\u2028b\u2029":     `"a\u2028b\u2029"`,
		"\xff":               `"\ufffd"`,
		"a\xe2\x82b\xc0\xaf": `"a\ufffd\ufffdb\ufffd\ufffd"`,
		"\xed\xa0\x80":       `"\ufffd\ufffd\ufffd"`,
		"\ufffd":             "\"\ufffd\"",
		"12345678\n1234567":  `"12345678\n1234567"`,
	} {
		if got := string(wire.AppendString(nil, in)); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}

func TestAppendedStringsAreReadBack(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 0))
	for range 5000 {
		in := string(randomText(rnd, "abcdefgh\"\\\n\x00\x1f/é日😀\u2028\u2029\xff\xe2", 80))
		text := wire.AppendString([]byte("#"), in)[1:]
		want := strings.ToValidUTF8(in, "\ufffd")
		var viaJSON string
		if err := json.Unmarshal(text, &viaJSON); err != nil {
			t.Fatalf("%q became %s: %v", in, text, err)
		}
		got, _ := mustValue(t, string(text)).Str()
		if utf8.ValidString(in) && (got != want || viaJSON != want) || got != viaJSON {
			t.Fatalf("%q became %s and reads %q, %q", in, text, got, viaJSON)
		}
	}
}
