package splice_test

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/internal/splice"
	"github.com/candor-mcp/candor/wire"
)

func TestSettingAMemberLeavesEveryOtherByteAlone(t *testing.T) {
	for _, tc := range []struct{ doc, path, value, want string }{
		{`{}`, "a", `1`, `{"a":1}`},
		{` { } `, "a", `1`, ` {"a":1 } `},
		{`{"b":2}`, "a", `1`, `{"b":2,"a":1}`},
		{"{ \"b\" : 2.0\n}\n", "a", `1`, "{ \"b\" : 2.0,\"a\":1\n}\n"},
		{`{ "a" : 1 , "b" : 2 }`, "a", `[ ]`, `{ "a" : [ ] , "b" : 2 }`},
		{`{"\u0061":1,"b":2}`, "a", `9`, `{"\u0061":9,"b":2}`},
		{`{"x":1}`, "a b c", `{}`, `{"x":1,"a":{"b":{"c":{}}}}`},
		{`{"a":{"y":1}}`, "a b c", `0`, `{"a":{"y":1,"b":{"c":0}}}`},
		{`{"a":{"b":{"c":1}}}`, "a b c", `0`, `{"a":{"b":{"c":0}}}`},
		{`{"result":{"content":[]},"id":9007199254740993}`, "result _meta dev.candor/error", `{"k":1}`,
			`{"result":{"content":[],"_meta":{"dev.candor/error":{"k":1}}},"id":9007199254740993}`},
		{`{"a":[{"x":1},{"x":2}]}`, "a 1 x", `3`, `{"a":[{"x":1},{"x":3}]}`},
		{`{"a":[1,2]}`, "a 0", `3`, `{"a":[3,2]}`},
		{`{"a":1}`, "q\"\\", `2`, `{"a":1,"q\"\\":2}`},
		{` 5 `, "", ` 6 `, ` 6 `},
	} {
		got, err := splice.SetMember([]byte("#"), []byte(tc.doc), strings.Fields(tc.path), []byte(tc.value))
		if err != nil || string(got) != "#"+tc.want {
			t.Errorf("%s at %s in %s: %s, %v; want %s", tc.value, tc.path, tc.doc, got, err, tc.want)
		}
	}
}

func TestRemovingAMemberTakesItsCommaAlong(t *testing.T) {
	for _, tc := range []struct{ doc, path, want string }{
		{`{"a":1}`, "a", `{}`},
		{` { "a" : 1 } `, "a", ` {  } `},
		{`{"a":1,"b":2,"c":3}`, "a", `{"b":2,"c":3}`},
		{`{"a":1,"b":2,"c":3}`, "b", `{"a":1,"c":3}`},
		{`{"a":1,"b":2,"c":3}`, "c", `{"a":1,"b":2}`},
		{`{ "a" : 1 , "b" : 2 }`, "a", `{ "b" : 2 }`},
		{`{ "a" : 1 , "b" : 2 }`, "b", `{ "a" : 1 }`},
		{`{"x":{"\u0061":1,"b":2}}`, "x a", `{"x":{"b":2}}`},
		{`{"x":[{"a":1}]}`, "x 0 a", `{"x":[{}]}`},
		{`{"a":1}`, "b", `{"a":1}`},
		{`{"a":1}`, "b c d", `{"a":1}`},
	} {
		got, err := splice.RemoveMember(nil, []byte(tc.doc), strings.Fields(tc.path))
		if err != nil || string(got) != tc.want {
			t.Errorf("%s in %s: %s, %v; want %s", tc.path, tc.doc, got, err, tc.want)
		}
	}
}

func TestInsertingAnElementKeepsTheOthers(t *testing.T) {
	for _, tc := range []struct {
		doc, path string
		at        int
		want      string
	}{
		{`[]`, "", 0, `[7]`}, {`[ ]`, "", -1, `[7 ]`}, {`[1]`, "", 0, `[7,1]`}, {`[ 1 , 2 ]`, "", 1, `[ 1 , 7,2 ]`},
		{`[ 1 ]`, "", 1, `[ 1,7 ]`}, {`[1,2]`, "", -1, `[1,2,7]`}, {`{"a":{"b":[[],{}]}}`, "a b", 1, `{"a":{"b":[[],7,{}]}}`},
		{`{"a":[[1]]}`, "a 0", 0, `{"a":[[7,1]]}`},
	} {
		got, err := splice.InsertElement(nil, []byte(tc.doc), strings.Fields(tc.path), tc.at, []byte(`7`))
		if err != nil || string(got) != tc.want {
			t.Errorf("%s %d in %s: %s, %v; want %s", tc.path, tc.at, tc.doc, got, err, tc.want)
		}
	}
}

func TestASpliceThatHasNoPlaceIsRefused(t *testing.T) {
	path := strings.Fields
	one := []byte(`1`)
	set := func(doc, p string) error {
		got, err := splice.SetMember([]byte("#"), []byte(doc), path(p), one)
		if string(got) != "#" {
			t.Errorf("%s: a refused splice returned %q", doc, got)
		}
		return err
	}
	insert := func(doc, p string, at int) error {
		_, err := splice.InsertElement(nil, []byte(doc), path(p), at, one)
		return err
	}
	remove := func(doc, p string) error {
		_, err := splice.RemoveMember(nil, []byte(doc), path(p))
		return err
	}
	for name, err := range map[string]error{
		"set into a scalar": set(`{"a":1}`, "a b"), "set into null": set(`{"a":null}`, "a b"), "set in a scalar": set(`5`, "a"),
		"set a position beyond": set(`[1]`, "1"), "set a position that is no number": set(`[1]`, "x"), "set position +0": set(`[1]`, "+0"),
		"insert into an object": insert(`{}`, "", 0), "insert beyond": insert(`[1]`, "", 2), "insert at -2": insert(`[1]`, "", -2),
		"insert at a missing place": insert(`{}`, "a", 0), "remove nothing": remove(`{}`, ""), "remove from an array": remove(`[1]`, "0"),
		"a name that is not UTF-8": set(`{}`, "\xff"),
	} {
		if !errors.Is(err, splice.ErrNoPath) {
			t.Errorf("%s: %v, want ErrNoPath", name, err)
		}
	}
	for name, err := range map[string]error{"broken": set(`{"a":1`, "a"), "twice": set(`{"a":1,"\u0061":1}`, "b"), "empty": insert(``, "", 0)} {
		if _, ok := errors.AsType[wire.Malformation](err); !ok {
			t.Errorf("%s: %v, want a malformation", name, err)
		}
	}
	if _, err := splice.SetMember(nil, []byte(`{}`), path("a"), []byte(`{`)); err == nil {
		t.Error("a broken value was set")
	}
	m := wire.Parse([]byte(`{"a":1,"a":2}`), wire.Limits{})
	if _, err := splice.Set(nil, m.Value(), path("a"), m.Value()); !errors.Is(err, splice.ErrAmbiguous) {
		t.Errorf("a name that comes twice: %v", err)
	}
}

func TestSetThenRemoveGivesTheDocumentBack(t *testing.T) {
	rnd := rand.New(rand.NewPCG(4, 0))
	for range 300 {
		doc, err := json.Marshal(map[string]any{"a": randomValue(rnd, 3), "b": randomValue(rnd, 2), "": 1})
		if err != nil {
			t.Fatal(err)
		}
		value, err := json.Marshal(randomValue(rnd, 2))
		if err != nil {
			t.Fatal(err)
		}
		with, err := splice.SetMember(nil, doc, []string{"new\n"}, value)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := parse(t, with).Get("new\n"); string(got.Raw()) != string(value) {
			t.Fatalf("%s: read back %s, want %s", with, got.Raw(), value)
		}
		back, err := splice.RemoveMember(nil, with, []string{"new\n"})
		if err != nil || string(back) != string(doc) {
			t.Fatalf("%s became %s, %v", doc, back, err)
		}
	}
}

func parse(t *testing.T, text []byte) wire.Value {
	t.Helper()
	v, err := wire.ParseValue(text, wire.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// randomValue returns a value for encoding/json.
func randomValue(rnd *rand.Rand, depth int) any {
	switch n := rnd.IntN(6); {
	case n == 0:
		return nil
	case n == 1:
		return rnd.IntN(2) == 0
	case n == 2:
		return rnd.NormFloat64()
	case n == 3 || depth == 0:
		return strings.Repeat("a\"\\\n\u00e9 ", rnd.IntN(4))
	case n == 4:
		list := make([]any, rnd.IntN(4))
		for i := range list {
			list[i] = randomValue(rnd, depth-1)
		}
		return list
	default:
		object := map[string]any{}
		for range rnd.IntN(4) {
			object[strings.Repeat("k\t", rnd.IntN(5))] = randomValue(rnd, depth-1)
		}
		return object
	}
}

// TestEditsAgreeWithSetMember makes the same changes in one pass and one by one.
func TestEditsAgreeWithSetMember(t *testing.T) {
	t.Parallel()
	for _, doc := range []string{
		`{"result":{}}`, `{ "result" : { "isError" : false , "content":[ {"a":1} ] } , "x":1 }`, `{"result":{"content":[],"_meta":{"k":{}}}}`,
		`{"result":{"_meta":{},"isError":1,"content":[1,2]},"id":7}`,
	} {
		root, err := wire.ParseValue([]byte(doc), wire.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		edits := []splice.Edit{
			{Path: []string{"result", "_meta", "k"}, Value: []byte(`{"e":1}`)},
			{Path: []string{"result", "structuredContent"}, Value: []byte(`[true]`)},
			{Path: []string{"result", "isError"}, Value: []byte("true")},
		}
		want := []byte(doc)
		for _, e := range edits {
			if want, err = splice.SetMember(nil, want, e.Path, e.Value); err != nil {
				t.Fatal(err)
			}
		}
		if root.Path("result", "content").Present() {
			edits = append(edits, splice.Edit{Path: []string{"result", "content"}, Value: []byte(`"first"`), Insert: true})
			if want, err = splice.InsertElement(nil, want, []string{"result", "content"}, 0, []byte(`"first"`)); err != nil {
				t.Fatal(err)
			}
		}
		got, err := splice.Edits([]byte("> "), root, edits...)
		if err != nil || string(got) != "> "+string(want) {
			t.Errorf("%s:\n got %s, %v\nwant %s", doc, got, err, want)
		}
	}
	root, _ := wire.ParseValue([]byte(`{"a":{"b":1}}`), wire.Limits{})
	if got, err := splice.Edits(nil, root, splice.Edit{Path: []string{"a"}, Value: []byte("1")}, splice.Edit{Path: []string{"a", "b"}, Value: []byte("2")}); !errors.Is(err, splice.ErrNoPath) {
		t.Errorf("overlapping edits: %s, %v", got, err)
	}
}
