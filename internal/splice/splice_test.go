package splice_test

import (
	"bytes"
	"errors"
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
	insert := func(doc, p string) error {
		_, err := splice.Edits(nil, parse(t, []byte(doc)), splice.Edit{Path: path(p), Value: one, Insert: true})
		return err
	}
	remove := func(doc, p string) error {
		_, err := splice.RemoveMember(nil, []byte(doc), path(p))
		return err
	}
	for name, err := range map[string]error{
		"set into a scalar": set(`{"a":1}`, "a b"), "set into null": set(`{"a":null}`, "a b"), "set in a scalar": set(`5`, "a"),
		"set a position beyond": set(`[1]`, "1"), "set a position that is no number": set(`[1]`, "x"), "set position +0": set(`[1]`, "+0"),
		"insert into an object": insert(`{}`, ""), "insert at a missing place": insert(`{}`, "a"), "remove nothing": remove(`{}`, ""), "remove from an array": remove(`[1]`, "0"),
		"a name that is not UTF-8": set(`{}`, "\xff"),
	} {
		if !errors.Is(err, splice.ErrNoPath) {
			t.Errorf("%s: %v, want ErrNoPath", name, err)
		}
	}
	for name, err := range map[string]error{"broken": set(`{"a":1`, "a"), "twice": set(`{"a":1,"\u0061":1}`, "b")} {
		if _, ok := errors.AsType[wire.Malformation](err); !ok {
			t.Errorf("%s: %v, want a malformation", name, err)
		}
	}
	if _, err := splice.SetMember(nil, []byte(`{}`), path("a"), []byte(`{`)); err == nil {
		t.Error("a broken value was set")
	}
	twice := wire.Parse([]byte(`{"a":1,"a":2}`), wire.Limits{})
	if _, err := splice.Edits(nil, twice.Value(), splice.Edit{Path: path("a"), Value: one}); !errors.Is(err, splice.ErrAmbiguous) {
		t.Errorf("a name that comes twice: %v", err)
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

// TestEditsAgreeWithSetMember makes the same changes in one pass and one by one.
func TestEditsAgreeWithSetMember(t *testing.T) {
	t.Parallel()
	for _, doc := range []string{
		`{"result":{}}`, `{ "result" : { "isError" : false , "content":[{"a":1} ] } , "x":1 }`, `{"result":{"content":[],"_meta":{"k":{}}}}`,
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
			want = bytes.Replace(want, []byte(`"content":[`), []byte(`"content":["first",`), 1)
			want = bytes.Replace(want, []byte(`,]`), []byte(`]`), 1)
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
