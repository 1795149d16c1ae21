package framing_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/internal/framing"
	"github.com/candor-mcp/candor/internal/wireflaw"
	"github.com/candor-mcp/candor/wire"
)

// events renders all events of a stream and joins their raw bytes.
func events(r io.Reader, limit int) (out []string, raw []byte, err error) {
	er := framing.NewEventReader(r, wire.Limits{MaxBytes: limit})
	for {
		e, err := er.Next()
		if errors.Is(err, io.EOF) {
			return out, raw, nil
		}
		if err != nil {
			return out, raw, err
		}
		raw = append(raw, e.Raw...)
		out = append(out, show(e))
	}
}

func show(e framing.Event) string {
	s := fmt.Sprintf("raw=%q size=%d", e.Raw, e.Size)
	if e.HasData {
		s += fmt.Sprintf(" data=%q", e.Data)
	}
	if e.Type != nil {
		s += fmt.Sprintf(" type=%q", e.Type)
	}
	if e.HasID {
		s += fmt.Sprintf(" id=%q", e.ID)
	}
	if e.HasRetry {
		s += fmt.Sprintf(" retry=%d", e.Retry)
	}
	if e.Flaw != wireflaw.None {
		s += fmt.Sprintf(" %v head=%q tail=%q", e.Flaw, e.Head, e.Tail)
	}
	if e.Unended {
		s += " unended"
	}
	return s
}

func TestEventsFollowTheStandard(t *testing.T) {
	for _, tc := range []struct {
		name, in string
		want     []string
	}{
		{"nothing", "", nil},
		{"one line", "data: x\n\n", []string{`raw="data: x\n\n" size=9 data="x"`}},
		{"no space", "data:x\n\n", []string{`raw="data:x\n\n" size=8 data="x"`}},
		{"one space only is dropped", "data:  x\n\n", []string{`raw="data:  x\n\n" size=10 data=" x"`}},
		{"several lines", "data: a\ndata\ndata: b\n\n", []string{`raw="data: a\ndata\ndata: b\n\n" size=22 data="a\n\nb"`}},
		{"empty data is data", "data\n\n", []string{`raw="data\n\n" size=6 data=""`}},
		{"CRLF", "data: a\r\ndata: b\r\n\r\nid:1\r\n\r\n", []string{
			`raw="data: a\r\ndata: b\r\n\r\n" size=20 data="a\nb"`, `raw="id:1\r\n\r\n" size=8 id="1"`}},
		{"CR", "data: a\rdata: b\r\rid:1\r\r", []string{
			`raw="data: a\rdata: b\r\r" size=17 data="a\nb"`, `raw="id:1\r\r" size=6 id="1"`}},
		{"LF then CR", "data: a\n\rdata: b\n\n", []string{
			`raw="data: a\n\r" size=9 data="a"`, `raw="data: b\n\n" size=9 data="b"`}},
		{"LF then CRLF", "data: a\n\r\ndata: b\n\n", []string{
			`raw="data: a\n\r" size=9 data="a"`, `raw="\ndata: b\n\n" size=10 data="b"`}},
		{"CRLF then CR", "data: a\r\n\rdata: b\n\n", []string{
			`raw="data: a\r\n\r" size=10 data="a"`, `raw="data: b\n\n" size=9 data="b"`}},
		{"the LF of a last CRLF", "data: a\n\r\n", []string{`raw="data: a\n\r" size=9 data="a"`, `raw="\n" size=1`}},
		{"comments", ": hi\n\n:\ndata:x\n\n", []string{`raw=": hi\n\n" size=6`, `raw=":\ndata:x\n\n" size=10 data="x"`}},
		{"all fields", "event: e\nid: 7\nretry: 250\nother: z\ndata: x\n\n", []string{
			`raw="event: e\nid: 7\nretry: 250\nother: z\ndata: x\n\n" size=44 data="x" type="e" id="7" retry=250`}},
		{"the last of equal fields wins", "id: 1\nid: 2\nevent: a\nevent: b\n\n", []string{
			`raw="id: 1\nid: 2\nevent: a\nevent: b\n\n" size=31 type="b" id="2"`}},
		{"an empty id resets", "id\n\n", []string{`raw="id\n\n" size=4 id=""`}},
		{"an id with NUL is ignored", "id: a\x00b\n\n", []string{`raw="id: a\x00b\n\n" size=9`}},
		{"a retry that is no number is ignored", "retry: 1x\nretry: -1\nretry:\n\n", []string{`raw="retry: 1x\nretry: -1\nretry:\n\n" size=28`}},
		{"names are case-sensitive", "Data: x\n\n", []string{`raw="Data: x\n\n" size=9`}},
		{"BOM", "\xef\xbb\xbfdata: x\n\n\xef\xbb\xbfdata: y\n\n", []string{
			`raw="\ufeffdata: x\n\n" size=12 data="x"`, `raw="\ufeffdata: y\n\n" size=12`}},
		{"BOM and a blank line", "\xef\xbb\xbf\ndata: x\n\n", []string{`raw="\ufeff\n" size=4`, `raw="data: x\n\n" size=9 data="x"`}},
		{"extra blank lines", "\n\ndata: x\n\n\n", []string{`raw="\n" size=1`, `raw="\n" size=1`, `raw="data: x\n\n" size=9 data="x"`, `raw="\n" size=1`}},
		{"unended", "data: x\n\ndata: y\n", []string{`raw="data: x\n\n" size=9 data="x"`, `raw="data: y\n" size=8 data="y" unended`}},
		{"unended inside a line", "data: {\"id", []string{`raw="data: {\"id" size=10 data="{\"id" unended`}},
	} {
		for _, sizes := range []string{"", "\x00", "\x01", "\x02\x05\x01"} {
			got, raw, err := events(&chunks{rest: []byte(tc.in), sizes: []byte(sizes)}, 1000)
			if err != nil || strings.Join(got, "\n") != strings.Join(tc.want, "\n") {
				t.Errorf("%s in chunks %q:\n got %s\nwant %s", tc.name, sizes, got, tc.want)
			}
			if string(raw) != tc.in {
				t.Errorf("%s: the raw parts are %q, not the stream %q", tc.name, raw, tc.in)
			}
		}
	}
}

func TestAnEventIsReturnedAsSoonAsItsBlankLineIs(t *testing.T) {
	for _, in := range []string{"data: x\n\n", "data: x\r\n\r\n", "data: x\r\r"} {
		r := framing.NewEventReader(io.MultiReader(strings.NewReader(in), neverAgain{t}), wire.Limits{})
		if e, err := r.Next(); err != nil || string(e.Data) != "x" {
			t.Errorf("%q: %v, %v", in, show(e), err)
		}
	}
}

type neverAgain struct{ t *testing.T }

func (n neverAgain) Read([]byte) (int, error) {
	n.t.Error("the reader was asked for more than the event needs")
	return 0, io.EOF
}

func TestAnOverlongEventIsDrainedAndItsNeighboursSurvive(t *testing.T) {
	big := "id: 9\ndata: {\"jsonrpc\":\"2.0\",\"id\":7,\"result\":\"" + strings.Repeat("x", 9000) + "\"}\n\n"
	for _, sizes := range []string{"", "\x00", "\x06\x01"} {
		r := framing.NewEventReader(&chunks{rest: []byte("data: a\n\n" + big + "data: b\n\n"), sizes: []byte(sizes)}, wire.Limits{MaxBytes: 500})
		a, err := r.Next()
		if err != nil || string(a.Data) != "a" {
			t.Fatal(show(a), err)
		}
		e, err := r.Next()
		if err != nil || e.Flaw != wireflaw.TooLarge || e.Size != int64(len(big)) || e.Raw != nil || string(e.ID) != "9" {
			t.Fatal(show(e), err)
		}
		if id := framing.PeekID(e.Head, e.Tail); string(id) != "7" {
			t.Errorf("id %q, want 7", id)
		}
		b, err := r.Next()
		if err != nil || string(b.Data) != "b" || string(r.LastEventID()) != "9" {
			t.Fatal(show(b), err)
		}
	}
}

func TestTheLastEventIDOutlivesItsEvent(t *testing.T) {
	r := framing.NewEventReader(strings.NewReader("id: 1\ndata: a\n\ndata: b\n\nid\n\nid: 2\n"), wire.Limits{})
	for _, want := range []string{"1", "1", "", ""} {
		if _, err := r.Next(); err != nil || string(r.LastEventID()) != want {
			t.Errorf("last id %q, %v; want %q", r.LastEventID(), err, want)
		}
	}
}

func sameEvents(t *testing.T, in, sizes []byte, limit int) {
	t.Helper()
	whole, raw, err1 := events(bytes.NewReader(in), limit)
	cut, _, err2 := events(&chunks{rest: in, sizes: sizes}, limit)
	if err1 != nil || err2 != nil || strings.Join(whole, "\n") != strings.Join(cut, "\n") {
		t.Fatalf("%q by %v, limit %d:\nwhole %s\n  cut %s\n%v %v", in, sizes, limit, whole, cut, err1, err2)
	}
	if limit > len(in) && !bytes.Equal(raw, in) {
		t.Fatalf("%q: the raw parts are %q", in, raw)
	}
}

func TestReplacedDataLeavesTheOtherLinesAlone(t *testing.T) {
	for _, tc := range []struct{ in, data, want string }{
		{"event: e\ndata: a\ndata: b\nid: 7\n\n", "x", "event: e\ndata: x\nid: 7\n\n"},
		{":c\r\ndata:a\r\nid:7\r\n\r\n", "x\ny", ":c\r\ndata: x\r\ndata: y\r\nid:7\r\n\r\n"},
		{"data: a\r\r", "x\r\ny\n", "data: x\rdata: y\rdata: \r\r"},
		{"id: 7\n\n", "x", "id: 7\ndata: x\n\n"},
		{"\xef\xbb\xbfdata: a\n\n", "", "\xef\xbb\xbfdata: \n\n"},
		{"data: a", "x", "data: x\n"},
		{"id: 7", "x", "id: 7\ndata: x\n"},
	} {
		r := framing.NewEventReader(strings.NewReader(tc.in), wire.Limits{})
		e, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		got, err := e.AppendWithData([]byte("#"), []byte(tc.data))
		if err != nil || string(got) != "#"+tc.want {
			t.Errorf("%q with %q: %q, %v; want %q", tc.in, tc.data, got, err, tc.want)
		}
	}
}

func TestWrittenEventsAreReadBack(t *testing.T) {
	var out []byte
	for _, e := range []framing.Event{
		{Data: []byte(`{"a":1}`)},
		{Type: []byte("e"), ID: []byte("7"), Retry: 0, HasRetry: true, Data: []byte("a\nb\n"), HasData: true},
		{HasID: true},
	} {
		var err error
		if out, err = framing.AppendEvent(out, e); err != nil {
			t.Fatal(err)
		}
	}
	want := "data: {\"a\":1}\n\nevent: e\nid: 7\nretry: 0\ndata: a\ndata: b\ndata: \n\nid: \n\n"
	if string(out) != want {
		t.Errorf("wrote %q, want %q", out, want)
	}
	for _, bad := range []framing.Event{{Type: []byte("a\nb")}, {ID: []byte("a\rb")}, {ID: []byte("a\x00")}} {
		if _, err := framing.AppendEvent(nil, bad); !errors.Is(err, framing.ErrBadField) {
			t.Errorf("%q %q: %v, want ErrBadField", bad.Type, bad.ID, err)
		}
	}
}
