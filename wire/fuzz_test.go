package wire_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"
	"unicode/utf8"

	"github.com/candor-mcp/candor/internal/wireflaw"
	"github.com/candor-mcp/candor/wire"
)

// stricter are the flaws for which encoding/json takes a text that this package refuses.
var stricter = wireflaw.SetOf(wireflaw.BadUTF8, wireflaw.LoneSurrogate, wireflaw.DuplicateKey, wireflaw.TooDeep, wireflaw.TooLarge)

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

func flawOf(err error) wireflaw.Flaw {
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
		if !v.Present() || m.Flaws().Has(wireflaw.TooDeep) {
			continue
		}
		if _, err := wire.ParseValue(v.Raw(), lim); err != nil && !m.Flaws().Has(flawOf(err)) {
			t.Fatalf("a part %q is flawed, the message is not: %v", v.Raw(), err)
		}
	}
	if !m.Flaws().Has(wireflaw.DuplicateKey) && !m.Flaws().Has(wireflaw.TooDeep) && !m.Flaws().Has(wireflaw.BadUTF8) {
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
