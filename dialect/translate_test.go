package dialect_test

import (
	"strings"
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/dialect"
)

func TestTranslationThroughAnyTwoDialectsGivesTheSameError(t *testing.T) {
	each(t, 1, func(e *candor.Error) {
		want := canonical(e)
		for _, a := range dialect.Names() {
			first := read(t, lookup(t, a), lookup(t, a).Write(nil, e, fullView))
			if got := canonical(first); got != want {
				t.Fatalf("%s changed it\nwant %s\n got %s", a, want, got)
			}
			for _, b := range dialect.Names() {
				second := read(t, lookup(t, b), lookup(t, b).Write(nil, first, fullView))
				back := read(t, lookup(t, a), lookup(t, a).Write(nil, second, fullView))
				if got := canonical(back); got != want {
					t.Fatalf("%s → %s → %s changed it\nwant %s\n got %s", a, b, a, want, got)
				}
			}
		}
	})
}

func TestEverySettingOfAResultIsReadBack(t *testing.T) {
	settings := map[string]func(*dialect.Options){
		"response": func(o *dialect.Options) { o.Response, o.ID = true, []byte(`"a"`) },
		"complete": func(o *dialect.Options) { o.Complete = true },
		"readable": func(o *dialect.Options) { o.Readable = true },
		"sep3313":  func(o *dialect.Options) { o.Sep3313 = true },
		"schema":   func(o *dialect.Options) { o.NoOutputSchema = false },
		"mirror":   func(o *dialect.Options) { o.Mirror = false },
		"patternA": func(o *dialect.Options) { o.Pattern = 'A' },
		"patternB": func(o *dialect.Options) { o.Pattern = 'B' },
		"null id":  func(o *dialect.Options) { o.Response, o.ID = true, []byte("null") },
		"bad id":   func(o *dialect.Options) { o.Response, o.ID = true, []byte(`{"x":`) },
	}
	each(t, 1, func(e *candor.Error) {
		for what, set := range settings {
			o := fullView
			set(&o)
			for _, name := range dialect.Names() {
				raw := lookup(t, name).Write(nil, e, o)
				if got := canonical(read(t, lookup(t, name), raw)); got != canonical(e) {
					t.Fatalf("%s, %s\nwant %s\n got %s\n %s", name, what, canonical(e), got, raw)
				}
			}
		}
	})
}

func TestDetectNamesTheDialectThatWrote(t *testing.T) {
	each(t, 1, func(e *candor.Error) {
		for _, name := range dialect.Names() {
			for _, raw := range [][]byte{lookup(t, name).Write(nil, e, fullView), lookup(t, name).Encode(nil, e, fullView)} {
				d, ok := dialect.Detect(parse(t, raw))
				if !ok || strings.TrimSuffix(d.Name(), "-unified") != strings.TrimSuffix(name, "-unified") {
					t.Fatalf("%s was taken for %v\n%s", name, d, raw)
				}
			}
		}
	})
}

func TestDetectLeavesNumbersThatEverybodyUses(t *testing.T) {
	for raw, want := range map[string]bool{
		`{"jsonrpc":"2.0","id":4,"error":{"code":-32000,"message":"ENOENT: no such file"}}`:         false,
		`{"jsonrpc":"2.0","id":4,"error":{"code":-32601,"message":"Method not found"}}`:             false,
		`{"jsonrpc":"2.0","id":4,"error":{"code":-32602,"message":"m","data":{"uri":"file:///x"}}}`: false,
		`{"jsonrpc":"2.0","id":4,"error":{"code":500,"message":"m","data":{"symbol":"E_KG_FULL"}}}`: false,
		`{"jsonrpc":"2.0","id":4,"error":{"code":4294969696,"message":"m"}}`:                        false,
		`{"jsonrpc":"2.0","id":4,"error":{"code":2400,"message":"m"}}`:                              true,
		`{"code":2400,"message":"m"}`: false,
		`{"error":{"code":-32000,"message":"m","data":{"domain":"vectordb","symbol":"E_VDB"}}}`:  true,
		`{"code":7,"message":"m","data":{"domain":"kg","symbol":"E_KG_FULL"}}`:                   true,
		`{"jsonrpc":"2.0","error":{"code":-32603,"message":"m","data":{"dev.candor/error":{}}}}`: true,
	} {
		if d, ok := dialect.Detect(parse(t, []byte(raw))); ok != want {
			t.Errorf("%s: %v", raw, d)
		}
	}
}

func TestErrorsWithoutCodeAreWrittenAsUncoded(t *testing.T) {
	for _, e := range []*candor.Error{nil, {}, candor.New(0, "lost")} {
		for _, name := range dialect.Names() {
			got := read(t, lookup(t, name), lookup(t, name).Write(nil, e, dialect.Options{}))
			if got.Code() != candor.CodeUncodedError {
				t.Errorf("%s: %v", name, got)
			}
		}
	}
}

func TestLookupListsTheNames(t *testing.T) {
	_, err := dialect.Lookup("klingon")
	if err == nil || !strings.Contains(err.Error(), "tool-error") {
		t.Fatal(err)
	}
}
