package splice_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/candor-mcp/candor/internal/splice"
	"github.com/candor-mcp/candor/wire"
)

func FuzzSplice(f *testing.F) {
	f.Add([]byte(`{"a":{"b":[1,{"c":2}]},"d":3}`), "a", "b", []byte(`{"x":1}`))
	f.Add([]byte(` { "result" : { "content" : [ ] } } `), "result", "_meta", []byte(`1`))
	f.Add([]byte(`{"\u0061":1}`), "a", "", []byte(`"v"`))
	f.Add([]byte(`[1,[2]]`), "1", "0", []byte(`null`))
	f.Fuzz(func(t *testing.T, doc []byte, a, b string, value []byte) {
		path := []string{a, b}
		_, badDoc := wire.ParseValue(doc, wire.Limits{})
		_, badValue := wire.ParseValue(value, wire.Limits{})
		checkSplice(t, badDoc == nil && badValue == nil, doc, path, value)
		if out, err := splice.RemoveMember(nil, doc, path); err == nil {
			checkRemoved(t, doc, out, path)
		}
	})
}

func checkSplice(t *testing.T, valid bool, doc []byte, path []string, value []byte) {
	out, err := splice.SetMember(nil, doc, path, value)
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
		back, err := splice.SetMember(nil, out, path, old.Raw())
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
