package dialect_test

import (
	"strings"
	"testing"

	"github.com/candor-mcp/candor"
	dualcode "github.com/candor-mcp/candor/codes/dual"
	"github.com/candor-mcp/candor/dialect"
)

func TestD3UnifiedMarksBothPatternsAndLegacyOnlyOne(t *testing.T) {
	legacy, unified := lookup(t, "dual"), lookup(t, "dual-unified")
	for c := range candor.Codes() {
		e := candor.New(c, "it went wrong")
		old, one := parse(t, legacy.Write(nil, e, fullView)), parse(t, unified.Write(nil, e, fullView))
		inB := strings.HasPrefix(c.Symbol(), "ERR_")
		if marked, _ := old.Path("isError").Bool(); marked == inB || old.Path("isError").Present() == inB {
			t.Errorf("%s, legacy: %s", c, old.Raw())
		}
		if inB && !old.Path("structuredContent", "data", "error", "code").Is(c.Symbol()) {
			t.Errorf("%s, legacy: %s", c, old.Raw())
		}
		if marked, _ := one.Path("isError").Bool(); !marked || !one.Path("structuredContent", "error", "code").Is(c.Symbol()) {
			t.Errorf("%s, unified: %s", c, one.Raw())
		}
		for _, d := range []dialect.Dialect{legacy, unified} {
			a, b := read(t, d, old.Raw()), read(t, d, one.Raw())
			if canonical(a) != canonical(b) || a.Code() != c {
				t.Errorf("%s reads them differently\n%s\n%s", d.Name(), canonical(a), canonical(b))
			}
		}
	}
}

func TestD4RaisedCodesAreMembersNotPrefixes(t *testing.T) {
	d := lookup(t, "dual")
	e := candor.New(dualcode.InvalidKey, "priv_key_hex must be 64 hex characters")
	got := string(d.Encode(nil, e, dialect.Options{}))
	want := `{"ok":false,"error":{"code":"HANDLER_ERROR","message":"INVALID_KEY: priv_key_hex must be 64 hex characters","details":{"code":"INVALID_KEY"}}}`
	if got != want {
		t.Errorf("\nwant %s\n got %s", want, got)
	}
	for raw, want := range map[string]candor.Code{
		`{"ok":false,"error":{"code":"HANDLER_ERROR","message":"INVALID_KEY: bad"}}`:                                          dualcode.InvalidKey,
		`{"ok":false,"error":{"code":"HANDLER_ERROR","message":"ROUND_NOT_FOUND"}}`:                                           dualcode.RoundNotFound,
		`{"ok":false,"error":{"code":"HANDLER_ERROR","message":"FallbackChainExhaustedError: all 3 failed"}}`:                 dualcode.FallbackChainExhausted,
		`{"ok":false,"error":{"code":"HANDLER_ERROR","message":"UNIQUE constraint failed: thoughts.id"}}`:                     dualcode.UniqueViolation,
		`{"ok":false,"error":{"code":"HANDLER_ERROR","message":"something else"}}`:                                            dualcode.HandlerError,
		`{"ok":false,"error":{"code":"HANDLER_ERROR","message":"INVALID_KEY: x","details":{"code":"HANDLER_ERROR"}}}`:         dualcode.HandlerError,
		`{"ok":false,"error":{"code":"HANDLER_ERROR","message":"ALREADY_VOTED: x","details":{"code":"ALREADY_VOTED","a":1}}}`: dualcode.AlreadyVoted,
		`{"error":{"code":"ERR_NOT_FOUND","message":"no live row","details":{"id":"1"}}}`:                                     dualcode.NotFound,
		`{"ok":false,"error":{"code":"ERR_OF_ANOTHER_EDITION","message":"m"}}`:                                                candor.CodeUnknownToolFailure,
	} {
		if got := read(t, d, []byte(raw)); got.Code() != want {
			t.Errorf("%s: %s, want %s", raw, got.Code(), want)
		}
	}
	e = read(t, d, []byte(`{"ok":false,"error":{"code":"HANDLER_ERROR","message":"INVALID_KEY: bad"}}`))
	if e.Message() != "bad" || !e.Origin().Inferred {
		t.Errorf("%s", canonical(e))
	}
}

func TestHandlerErrorIsNotTakenForAnotherCode(t *testing.T) {
	for _, e := range []*candor.Error{
		candor.New(dualcode.HandlerError, "INVALID_KEY: quoted from elsewhere"),
		candor.New(dualcode.HandlerError, "m", candor.WithDetails(map[string]any{"code": "NOT_FOUND"})),
		candor.New(dualcode.HandlerError, "SQLITE_BUSY", candor.WithDetails("a text")),
	} {
		for _, name := range []string{"dual", "dual-unified"} {
			if got := read(t, lookup(t, name), lookup(t, name).Write(nil, e, fullView)); canonical(got) != canonical(e) {
				t.Errorf("%s\nwant %s\n got %s", name, canonical(e), canonical(got))
			}
		}
	}
}

func TestD5DataThatSayOkFalseAreNoFailure(t *testing.T) {
	for _, raw := range []string{
		`{"ok":true,"data":{"ok":false}}`,
		`{"ok":true,"data":{"ok":false,"error":"text"}}`,
		`{"ok":true,"data":{"ok":false,"error":null}}`,
		`{"ok":true,"data":{"ok":false,"error":{"code":"X"}}}`,
		`{"ok":true,"data":{"ok":true,"error":{"code":"ERR_NOT_FOUND","message":"m"}}}`,
		`{"ok":true,"data":{"error":{"code":"ERR_NOT_FOUND","message":"m"}}}`,
		`{"ok":true,"data":{"record":{"ok":false,"error":{"code":"ERR_NOT_FOUND","message":"m"}}}}`,
		`{"ok":true,"data":[{"ok":false,"error":{"code":"ERR_NOT_FOUND","message":"m"}}]}`,
		`{"ok":true,"error":{"code":"ERR_NOT_FOUND","message":"m"},"data":{"ok":false}}`,
		`{"ok":"no","error":{"code":"ERR_NOT_FOUND","message":"m"}}`,
		`{"ok":true,"data":{"dev.candor/error":{"code":"NOT_FOUND"}}}`,
		`{"content":[{"type":"text","text":"{\"ok\":true,\"data\":{\"checks\":[{\"ok\":false}]}}"}]}`,
	} {
		v := parse(t, []byte(raw))
		for _, name := range []string{"dual", "dual-unified"} {
			if e, err := lookup(t, name).Read(v); err == nil {
				t.Errorf("%s took %s for %v", name, raw, e)
			}
		}
		if d, ok := dialect.Detect(v); ok {
			t.Errorf("%s detects %s", d.Name(), raw)
		}
	}
	e := read(t, lookup(t, "dual"), []byte(`{"ok":true,"data":{"ok":false,"error":{"code":"ERR_NOT_FOUND","message":"m"}}}`))
	if e.Code() != dualcode.NotFound {
		t.Error(e)
	}
}
