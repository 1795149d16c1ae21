package wire_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"
	"unicode/utf8"

	"github.com/candor-mcp/candor/wire"
)

// stricter are the flaws for which encoding/json takes a text that this package refuses.
var stricter = wire.FlawsOf(wire.FlawBadUTF8, wire.FlawLoneSurrogate, wire.FlawDuplicateKey, wire.FlawTooDeep, wire.FlawTooLarge)

func FuzzMessage(f *testing.F) {
	for _, tc := range flawed {
		if len(tc.in) < 1000 {
			f.Add([]byte(tc.in))
		}
	}
	f.Add(textReply(300))
	f.Add(denseReply(300))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"result":{"a":1,"isError":true}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"result":{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8,"i":9}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		given := bytes.Clone(data)
		m := wire.Parse(data, wire.Limits{MaxDepth: 20, MaxBytes: 1 << 16})
		if !bytes.Equal(m.Bytes(), given) || !bytes.Equal(data, given) {
			t.Fatal("the bytes changed")
		}
		checkFlaws(t, &m)
		checkParts(t, &m)
		_, err := wire.ParseValue(data, wire.Limits{MaxDepth: 20})
		if flaw := flawOf(err); json.Valid(data) != (err == nil) && !(err != nil && stricter.Has(flaw)) {
			t.Fatalf("encoding/json says valid: %v, we say %v", json.Valid(data), err)
		}
	})
}

func flawOf(err error) wire.Flaw {
	bad, _ := errors.AsType[wire.Malformation](err)
	return bad.Flaw
}

func checkFlaws(t *testing.T, m *wire.Message) {
	worst := m.Malformation()
	if (m.Err() == nil) != m.Flaws().Empty() || (m.Kind() == wire.KindMalformed) == m.Flaws().Empty() {
		t.Fatalf("kind %v, flaws %v and %v disagree", m.Kind(), m.Flaws(), m.Err())
	}
	if m.Err() != nil && (!m.Flaws().Has(worst.Flaw) || worst.Offset < 0 || worst.Offset > len(m.Bytes())) {
		t.Fatalf("%v is not among %v, or is out of place", worst, m.Flaws())
	}
}

// checkParts reads everything a message offers. What it offers is JSON unless the scan stepped
// over something too deep.
func checkParts(t *testing.T, m *wire.Message) {
	lim := wire.Limits{MaxDepth: 10_000, MaxBytes: 1 << 20}
	for _, v := range []wire.Value{m.ID().Value(), m.Params(), m.Result(), m.Error(), m.Value()} {
		visit(v)
		if !v.Present() || m.Flaws().Has(wire.FlawTooDeep) {
			continue
		}
		if _, err := wire.ParseValue(v.Raw(), lim); err != nil && !m.Flaws().Has(flawOf(err)) {
			t.Fatalf("a part %q is flawed, the message is not: %v", v.Raw(), err)
		}
	}
	if !m.Flaws().Has(wire.FlawDuplicateKey) && !m.Flaws().Has(wire.FlawTooDeep) && !m.Flaws().Has(wire.FlawBadUTF8) {
		checkResult(t, m)
	}
	if again := wire.Parse(m.ID(), wire.Limits{}); m.ID() != nil && !bytes.Equal(again.Bytes(), m.ID()) {
		t.Fatal("the id changed")
	}
	m.SplitBatch()
	m.Method()
}

// checkResult compares the members of the result by index and by walk.
func checkResult(t *testing.T, m *wire.Message) {
	for name, value := range m.Result().Members() {
		text, _ := name.Str()
		if got, ok := m.ResultMember(text); (!ok || !bytes.Equal(got.Raw(), value.Raw())) && utf8.ValidString(text) {
			t.Fatalf("result member %q is %q by index and %q by walk", text, got.Raw(), value.Raw())
		}
	}
	for _, list := range []string{"content", "a"} {
		got, _ := m.ResultFirst(list, "text")
		if want := m.Result().Path(list, 0, "text"); !bytes.Equal(got.Raw(), want.Raw()) {
			t.Fatalf("first of %s is %q by index and %q by walk", list, got.Raw(), want.Raw())
		}
	}
	for _, name := range []string{"", "a", "isError"} {
		if _, ok := m.ResultMember(name); ok && !m.Result().Path(name).Present() {
			t.Fatalf("result member %q is only in the index", name)
		}
	}
}

func FuzzSplice(f *testing.F) {
	f.Add([]byte(`{"a":{"b":[1,{"c":2}]},"d":3}`), "a", "b", []byte(`{"x":1}`), 1)
	f.Add([]byte(` { "result" : { "content" : [ ] } } `), "result", "_meta", []byte(`1`), 0)
	f.Add([]byte(`{"\u0061":1}`), "a", "", []byte(`"v"`), -1)
	f.Add([]byte(`[1,[2]]`), "1", "0", []byte(`null`), 2)
	f.Fuzz(func(t *testing.T, doc []byte, a, b string, value []byte, at int) {
		path := []string{a, b}
		valid := wire.Valid(doc, wire.Limits{}) && wire.Valid(value, wire.Limits{})
		checkSplice(t, valid, doc, path, value)
		if out, err := wire.RemoveMember(nil, doc, path); err == nil {
			checkRemoved(t, doc, out, path)
		}
		out, err := wire.InsertElement(nil, doc, path[:1], at, value)
		if err == nil && (!valid || !json.Valid(out)) {
			t.Fatalf("inserted into %q: %q", doc, out)
		}
	})
}

func checkSplice(t *testing.T, valid bool, doc []byte, path []string, value []byte) {
	out, err := wire.SetMember(nil, doc, path, value)
	if err != nil {
		if len(out) != 0 {
			t.Fatalf("a refused splice returned %q", out)
		}
		return
	}
	if !valid || !json.Valid(out) {
		t.Fatalf("%q with %q set is %q", doc, value, out)
	}
	lim := wire.Limits{MaxDepth: 1000}
	before, _ := wire.ParseValue(doc, lim)
	after, err := wire.ParseValue(out, lim)
	if err != nil {
		t.Fatal(err)
	}
	set, _ := wire.ParseValue(value, lim)
	if got := along(after, path); !bytes.Equal(got.Raw(), set.Raw()) {
		t.Fatalf("%q read back as %q", set.Raw(), got.Raw())
	}
	sameOthers(t, before, after, path[0])
	if old := along(before, path); old.Present() {
		back, err := wire.SetMember(nil, out, path, old.Raw())
		if err != nil || !bytes.Equal(back, doc) {
			t.Fatalf("%q came back as %q, %v", doc, back, err)
		}
	}
}

// along follows a path by the rules of a splice: in an array a step is a position.
func along(v wire.Value, path []string) wire.Value {
	for _, step := range path {
		if v.Type() == wire.TypeArray {
			n := 0
			for _, c := range step {
				n = n*10 + int(c-'0')
			}
			v = v.Path(n)
			continue
		}
		v = v.Path(step)
	}
	return v
}

// sameOthers checks that all members but one are byte-identical and in order.
func sameOthers(t *testing.T, before, after wire.Value, but string) {
	var x, y []byte
	for name, value := range before.Members() {
		if !name.Is(but) {
			x = append(append(x, name.Raw()...), value.Raw()...)
		}
	}
	for name, value := range after.Members() {
		if !name.Is(but) {
			y = append(append(y, name.Raw()...), value.Raw()...)
		}
	}
	if !bytes.Equal(x, y) {
		t.Fatalf("other members changed from %q to %q", x, y)
	}
}

func checkRemoved(t *testing.T, doc, out []byte, path []string) {
	if !json.Valid(out) {
		t.Fatalf("%q became %q", doc, out)
	}
	before, _ := wire.ParseValue(doc, wire.Limits{})
	after, err := wire.ParseValue(out, wire.Limits{})
	if err != nil || along(after, path).Present() {
		t.Fatalf("%q still has the member: %q, %v", doc, out, err)
	}
	sameOthers(t, before, after, path[0])
}

func FuzzNDJSON(f *testing.F) {
	f.Add([]byte("a\nbb\r\n\n0123456789\nc"), []byte{1, 3}, 5)
	f.Add([]byte("\xef\xbb\xbf{}\r\n\x00\r\r\n\xe2\x82\xac\n"), []byte{0}, 3)
	f.Fuzz(func(t *testing.T, in, sizes []byte, limit int) {
		sameLines(t, in, append(sizes, 0), 1+limit&0x1f)
		sameLines(t, in, append(sizes, 0), 0)
	})
}

func FuzzSSE(f *testing.F) {
	f.Add([]byte("\xef\xbb\xbfdata: a\r\n\r\nid: 1\rdata\r\r\n:c\n\ndata: x"), []byte{1, 3}, 12)
	f.Add([]byte("event: e\nretry: 10\ndata: a\ndata: b\n\n\n\r\n"), []byte{0}, 60)
	f.Fuzz(func(t *testing.T, in, sizes []byte, limit int) {
		sameEvents(t, in, append(sizes, 0), 1+limit&0x3f)
		sameEvents(t, in, append(sizes, 0), 1<<20)
		checkReplacing(t, in)
	})
}

// checkReplacing puts new data into the first event and reads it back.
func checkReplacing(t *testing.T, in []byte) {
	e, err := wire.NewEventReader(bytes.NewReader(in), wire.Limits{}).Next()
	if err != nil || e.Unended {
		return
	}
	out, err := e.AppendWithData(nil, []byte("new"))
	if err != nil {
		t.Fatal(err)
	}
	r := wire.NewEventReader(bytes.NewReader(out), wire.Limits{})
	again, err := r.Next()
	if err != nil || string(again.Data) != "new" || !bytes.Equal(again.ID, e.ID) || !bytes.Equal(again.Type, e.Type) {
		t.Fatalf("%q with new data is %q, which reads %s, %v", e.Raw, out, show(again), err)
	}
}
