package framing_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/candor-mcp/candor/internal/framing"
	"github.com/candor-mcp/candor/internal/wireflaw"
	"github.com/candor-mcp/candor/wire"
)

// chunks reads its text in pieces with repeating lengths, as a peer may send it.
type chunks struct {
	rest  []byte
	sizes []byte
	n     int
}

func (c *chunks) Read(p []byte) (int, error) {
	if len(c.rest) == 0 {
		return 0, io.EOF
	}
	size := len(c.rest)
	if len(c.sizes) > 0 {
		size = int(c.sizes[c.n%len(c.sizes)])%7 + 1
		c.n++
	}
	n := copy(p, c.rest[:min(size, len(c.rest))])
	c.rest = c.rest[n:]
	return n, nil
}

// lines renders all lines of a stream, so that two readings can be compared.
func lines(r io.Reader, limit int) (out []string, err error) {
	lr := framing.NewLineReader(r, wire.Limits{MaxBytes: limit})
	for {
		l, err := lr.Next()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		out = append(out, fmt.Sprintf("%q size=%d %v head=%q tail=%q unended=%v", l.Bytes, l.Size, l.Flaw, l.Head, l.Tail, l.Unended))
	}
}

func line(s string) string {
	return fmt.Sprintf("%q size=%d none head=\"\" tail=\"\" unended=false", s, len(s))
}

func unended(s string) string {
	return fmt.Sprintf("%q size=%d none head=\"\" tail=\"\" unended=true", s, len(s))
}

func tooLarge(s string) string {
	return fmt.Sprintf("\"\" size=%d too_large head=%q tail=%q unended=false", len(s), s, s)
}

func TestLinesAreCutAtLineFeeds(t *testing.T) {
	for _, tc := range []struct {
		name, in string
		want     []string
	}{
		{"nothing", "", nil},
		{"LF", "a\nb\n", []string{line("a"), line("b")}},
		{"CRLF", "a\r\nb\r\n", []string{line("a"), line("b")}},
		{"no newline at the end", "a\nb", []string{line("a"), unended("b")}},
		{"empty and blank lines", "\n\r\n \t\na\n\n  ", []string{line("a")}},
		{"lone CR inside", "a\rb\n", []string{line("a\rb")}},
		{"NUL", "a\x00b\n", []string{line("a\x00b")}},
		{"BOM", "\xef\xbb\xbfa\n", []string{line("\xef\xbb\xbfa")}},
		{"bytes that are not UTF-8", "\xff\xe2\x82\n", []string{line("\xff\xe2\x82")}},
		{"a line of exactly the limit", "0123456789\r\nb\n", []string{line("0123456789"), line("b")}},
		{"a line over the limit", "a\n0123456789A\nb\n", []string{line("a"), tooLarge("0123456789A"), line("b")}},
		{"a CRLF line over the limit", "a\r\n0123456789A\r\nb\n", []string{line("a"), tooLarge("0123456789A"), line("b")}},
		{"two in a row", "0123456789A\n0123456789B\nb\n", []string{tooLarge("0123456789A"), tooLarge("0123456789B"), line("b")}},
		{"over the limit and unended", "0123456789A", []string{strings.Replace(tooLarge("0123456789A"), "false", "true", 1)}},
	} {
		for _, sizes := range []string{"", "\x00", "\x01", "\x02\x05\x01"} {
			got, err := lines(&chunks{rest: []byte(tc.in), sizes: []byte(sizes)}, 10)
			if err != nil || strings.Join(got, "\n") != strings.Join(tc.want, "\n") {
				t.Errorf("%s in chunks %q:\n got %s\nwant %s", tc.name, sizes, got, tc.want)
			}
		}
	}
}

func TestAnOverlongLineCostsBoundedMemoryAndItsNeighboursSurvive(t *testing.T) {
	big := io.MultiReader(strings.NewReader(`{"jsonrpc":"2.0","id":7,"result":"`),
		io.LimitReader(endless('x'), 64<<20), strings.NewReader("\"}\nafter\n"))
	r := framing.NewLineReader(io.MultiReader(strings.NewReader("before\n"), big), wire.Limits{MaxBytes: 1 << 16})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if l, err := r.Next(); err != nil || string(l.Bytes) != "before" {
		t.Fatal(string(l.Bytes), err)
	}
	l, err := r.Next()
	if err != nil || l.Flaw != wireflaw.TooLarge || l.Size != 64<<20+36 || len(l.Head) != 4096 || len(l.Tail) != 256 {
		t.Fatal(l.Flaw, l.Size, len(l.Head), len(l.Tail), err)
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 1<<20 {
		t.Errorf("a line of 64 MiB took %d bytes of memory", took)
	}
	if id := framing.PeekID(l.Head, l.Tail); string(id) != "7" {
		t.Errorf("id %q, want 7", id)
	}
	if l, err := r.Next(); err != nil || string(l.Bytes) != "after" {
		t.Fatal(string(l.Bytes), err)
	}
}

type endless byte

func (e endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(e)
	}
	return len(p), nil
}

func TestPeekIDFindsAnIDAtEitherEnd(t *testing.T) {
	for _, tc := range []struct{ head, tail, want string }{
		{`{"jsonrpc":"2.0","id":9007199254740993,"result":"xx`, `xx"}`, "9007199254740993"},
		{`{"jsonrpc":"2.0","id":"a b","result":{"id":3,`, `}}`, `"a b"`},
		{`{"result":{"content":[{"text":"xx`, `xx"}]},"jsonrpc":"2.0","id":12}`, "12"},
		{`{"result":"xx`, `xx" , "id" : "q" } `, `"q"`},
		{`{"result":"xx`, `"x","id":1.0}` + "\r\n", "1.0"},
		{`{"result":"xx`, `{"id":5}}`, ""},
		{`{"result":"xx`, `"x\"id":5}`, ""},
		{`{"result":"xx`, `"x","id":true}`, ""},
		{`{"result":"xx`, `"x","id":"a\"b"}`, ""},
		{`{"result":"xx`, `"x","kid":5}`, ""},
		{`{"result":{"id":5,"a":"xx`, `"x"}}`, ""},
		{`{"id":12`, ``, ""},
		{``, `"id":5}`, ""},
		{``, `}`, ""},
		{``, `"}`, ""},
		{"", "", ""},
	} {
		if got := framing.PeekID([]byte(tc.head), []byte(tc.tail)); string(got) != tc.want {
			t.Errorf("%s … %s: id %q, want %q", tc.head, tc.tail, got, tc.want)
		}
	}
}

func TestAStuckOrBrokenReaderEndsTheLines(t *testing.T) {
	boom := errors.New("boom")
	for _, tc := range []struct {
		name string
		r    io.Reader
		want error
	}{
		{"an error", io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(boom)), boom},
		{"no progress", io.MultiReader(strings.NewReader("a\nb"), stuck{}), io.ErrNoProgress},
		{"data and error at once", iotest.DataErrReader(strings.NewReader("a\nb")), io.EOF},
	} {
		r := framing.NewLineReader(tc.r, wire.Limits{})
		a, errA := r.Next()
		first := string(a.Bytes)
		b, errB := r.Next()
		if first != "a" || string(b.Bytes) != "b" || !b.Unended || errA != nil || errB != nil {
			t.Errorf("%s: %q, %q, %v, %v", tc.name, first, b.Bytes, errA, errB)
		}
		for range 2 {
			if _, err := r.Next(); !errors.Is(err, tc.want) {
				t.Errorf("%s: %v, want %v", tc.name, err, tc.want)
			}
		}
	}
}

type stuck struct{}

func (stuck) Read([]byte) (int, error) { return 0, nil }

func sameLines(t *testing.T, in, sizes []byte, limit int) {
	t.Helper()
	whole, err1 := lines(bytes.NewReader(in), limit)
	cut, err2 := lines(&chunks{rest: in, sizes: sizes}, limit)
	if err1 != nil || err2 != nil || strings.Join(whole, "\n") != strings.Join(cut, "\n") {
		t.Fatalf("%q by %v, limit %d:\nwhole %s\n  cut %s\n%v %v", in, sizes, limit, whole, cut, err1, err2)
	}
}

func TestWrittenLinesAreReadBack(t *testing.T) {
	var out bytes.Buffer
	w := framing.NewLineWriter(&out)
	for _, m := range []string{`{"a":1}`, "{\n  \"a\": \"\\n\"\r\n}", ``} {
		if err := w.WriteLine([]byte(m)); err != nil {
			t.Fatal(err)
		}
	}
	if want := "{\"a\":1}\n{   \"a\": \"\\n\"  }\n\n"; out.String() != want {
		t.Errorf("wrote %q, want %q", out.String(), want)
	}
	if err := framing.NewLineWriter(shortWriter{}).WriteLine([]byte("abc")); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("a short write gave %v", err)
	}
}

type shortWriter struct{}

func (shortWriter) Write(p []byte) (int, error) { return len(p) - 1, nil }

func TestNextBufferedNeverReads(t *testing.T) {
	in := &chunks{rest: []byte("a\n\nb\n \nc")}
	r := framing.NewLineReader(in, wire.Limits{})
	if l, ok := r.NextBuffered(); ok {
		t.Fatalf("%q before anything was read", l.Bytes)
	}
	if l, err := r.Next(); err != nil || string(l.Bytes) != "a" {
		t.Fatalf("%q, %v", l.Bytes, err)
	}
	if l, ok := r.NextBuffered(); !ok || string(l.Bytes) != "b" {
		t.Fatalf("%q, %v", l.Bytes, ok)
	}
	if l, ok := r.NextBuffered(); ok {
		t.Fatalf("%q is not ended", l.Bytes)
	}
	if l, err := r.Next(); err != nil || string(l.Bytes) != "c" || !l.Unended {
		t.Fatalf("%q, %v", l.Bytes, err)
	}
}
