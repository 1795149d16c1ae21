package jsontext_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/internal/jsontext"
)

// reference is what the standard library writes when it is told that this is not a web page.
func reference(t testing.TB, s string) string {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func check(t testing.TB, s string) {
	t.Helper()
	want := reference(t, s)
	got := jsontext.AppendString([]byte("x"), s)
	if string(got) != "x"+want {
		t.Errorf("%q is written %s, the standard library writes %s", s, got[1:], want)
	}
	if fromBytes := jsontext.AppendString(nil, []byte(s)); string(fromBytes) != want {
		t.Errorf("%q as bytes is written %s, want %s", s, fromBytes, want)
	}
	if n := jsontext.EncodedLen(s); n != len(want) {
		t.Errorf("EncodedLen(%q) = %d, want %d", s, n, len(want))
	}
}

func TestStringsAreWrittenAsTheStandardLibraryDoes(t *testing.T) {
	for r := range rune(0x3000) {
		check(t, "a"+string(r)+"b")
	}
	for c := range 256 {
		check(t, string([]byte{byte(c)}))
		check(t, string([]byte{'a', byte(c), 'b'}))
		check(t, string([]byte{0xe2, 0x80, byte(c)}))
		check(t, string([]byte{byte(c), 0x80, 0xa8}))
	}
	for _, s := range []string{
		"", `"`, `\`, "<&>", "\u2028\u2029", "\xe2\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\U0010ffff", "😀\xff😀", "\ufffd", "…",
	} {
		check(t, s)
	}
}

func TestRandomStringsAreWrittenAsTheStandardLibraryDoes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"a", `"`, `\`, "\n", "\x00", "\x1f", "\x7f", "é", "\u2028", "\u2029", "\u2027", "😀", "\xff", "\xe2\x80", "\xc0", "<", " "}
	for range 20000 {
		var b strings.Builder
		for range r.IntN(12) {
			if r.IntN(3) == 0 {
				b.WriteByte(byte(r.IntN(256)))
			} else {
				b.WriteString(pieces[r.IntN(len(pieces))])
			}
		}
		check(t, b.String())
	}
}

func TestAppendStringDoesNotAllocate(t *testing.T) {
	s := strings.Repeat("path \"é\" \n😀 \xff \u2028", 20)
	raw := []byte(s)
	dst := make([]byte, 0, 4096)
	for name, f := range map[string]func(){
		"string": func() { dst = jsontext.AppendString(dst[:0], s) },
		"bytes":  func() { dst = jsontext.AppendString(dst[:0], raw) },
		"len":    func() { _ = jsontext.EncodedLen(s) },
	} {
		if n := testing.AllocsPerRun(100, f); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func FuzzAppendString(f *testing.F) {
	for _, s := range []string{"", "a\"b\\c\n", "\u2028\u2029", "\xff\xe2\x80", "\x7f\x00\x1f", "😀é…"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { check(t, s) })
}

func BenchmarkAppendString(b *testing.B) {
	s := strings.Repeat("the file notes.txt does not exist; ", 8)
	dst := make([]byte, 0, 1024)
	b.SetBytes(int64(len(s)))
	b.ReportAllocs()
	for b.Loop() {
		dst = jsontext.AppendString(dst[:0], s)
	}
}
