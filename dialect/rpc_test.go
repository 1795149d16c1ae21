package dialect_test

import (
	"strings"
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/kg"
	"github.com/candor-mcp/candor/codes/memorybank"
	"github.com/candor-mcp/candor/codes/playwright"
	"github.com/candor-mcp/candor/codes/python"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/wire"
)

func TestH2EveryNumberCarriesDomainSymbolAndRetryable(t *testing.T) {
	d := lookup(t, "rpc")
	standard := map[int64]bool{-32700: true, -32600: true, -32601: true, -32602: true, -32603: true, -32020: true, -32021: true, -32022: true}
	seen := map[string]string{}
	for c := range candor.Codes() {
		v := parse(t, d.Encode(nil, candor.New(c, ""), dialect.Options{}))
		n, _ := v.Path("code").Int64()
		if n <= 0 && !standard[n] {
			t.Errorf("%s is written as %d", c, n)
		}
		if _, ok := v.Path("data", "retryable").Bool(); !ok || !v.Path("data", "domain").Is(c.Domain()) || !v.Path("data", "symbol").Is(c.Symbol()) {
			t.Errorf("%s: %s", c, v.Raw())
		}
		id := c.Domain() + "/" + c.Symbol()
		if other, taken := seen[string(v.Path("code").Raw())]; taken && n > 0 {
			t.Errorf("%d is %s and %s", n, other, id)
		}
		seen[string(v.Path("code").Raw())] = id
	}
}

func TestRetryableOfTheTaxonomyIsTheClosedSum(t *testing.T) {
	d := lookup(t, "rpc")
	for data, want := range map[string]string{
		`{"domain":"kg","symbol":"E_KG_FULL","retryable":true}`:                      "retryable_immediate",
		`{"domain":"kg","symbol":"E_KG_FULL","retryable":true,"retryAfterMs":250}`:   "retryable_after_ms 250",
		`{"domain":"kg","symbol":"E_KG_FULL","retryable":true,"retryAfterMs":-1}`:    "retryable_immediate",
		`{"domain":"kg","symbol":"E_KG_FULL","retryable":false}`:                     "not_retryable",
		`{"domain":"kg","symbol":"E_KG_FULL","retryable":false,"retryAfterMs":1000}`: "not_retryable",
		`{"domain":"rate-limit","symbol":"E_RL_EXCEEDED"}`:                           "retryable_after_ms 1000",
	} {
		if got := read(t, d, []byte(`{"code":2400,"message":"m","data":`+data+`}`)).Retry().String(); got != want {
			t.Errorf("%s: %s, want %s", data, got, want)
		}
	}
}

func TestH12VerboseFramesAreBoundedAndClean(t *testing.T) {
	d := lookup(t, "rpc")
	e := candor.New(python.ExecFail, "", candor.WithStack("a.A (a.go:1)\nb.B (b.go:2)\nc.C (/home/ann/c.go:3)\nd.D (d.go:4)"))
	for verbose, want := range map[int]int{0: 0, 1: 1, 2: 2, 4: 4, 9: 4, -1: 4} {
		o := dialect.Options{Stack: candor.StackPolicy{Verbose: verbose, Debug: true}}
		v := parse(t, d.Write(nil, e, o))
		stack, has := v.Path("error", "data", "stack").Str()
		if has != (want > 0) || has && strings.Count(stack, "\n")+1 != want {
			t.Errorf("%d frames asked for: %q", verbose, stack)
		}
		own, _ := v.Path("error", "data", dialect.MetaKey, "stack").Str()
		if own != stack {
			t.Errorf("%d frames asked for, beside it stands %q", verbose, own)
		}
		if strings.Contains(string(v.Raw()), "/home/") {
			t.Errorf("a path: %s", v.Raw())
		}
	}
}

func TestH16NoRawTextOfTheSystemInTheMessage(t *testing.T) {
	d := lookup(t, "rpc")
	e := read(t, d, []byte(`{"jsonrpc":"2.0","id":4,"error":{"code":-32000,"message":"ENOENT: no such file or directory, open '/srv/app/memory-bank/missing.md'"}}`))
	raw := string(d.Write(nil, e, dialect.Options{}))
	if strings.Contains(raw, "/srv/app") || strings.Contains(raw, "-32000,\"message") {
		t.Errorf("%s", raw)
	}
	v := parse(t, []byte(raw))
	if n, _ := v.Path("error", "code").Int64(); n != -32603 {
		t.Errorf("unmapped is %d", n)
	}
	if said, _ := v.Path("error", "data", "details", "said", "number").Int64(); said != -32000 {
		t.Errorf("what was said is lost: %s", raw)
	}
	plain := candor.From(errRoot)
	v = parse(t, d.Write(nil, plain, dialect.Options{}))
	if strings.Contains(string(v.Raw()), "/home/") || !v.Path("error", "message").Is(candor.CodeInternalError.Info().Sentence) {
		t.Errorf("%s", v.Raw())
	}
}

func TestDomainAndSymbolAreTheIdentityNotTheNumber(t *testing.T) {
	d := lookup(t, "rpc")
	for raw, want := range map[string]candor.Code{
		`{"code":2701,"message":"m","data":{"domain":"playwright","symbol":"E_PW_NAVIGATION"}}`: playwright.Nav,
		`{"code":2601,"message":"m","data":{"domain":"python","symbol":"E_PY_EXEC_FAILED"}}`:    python.ExecFail,
		`{"code":2300,"message":"m","data":{"domain":"vectordb","symbol":"E_VDB_FULL"}}`:        candor.CodeUnknownToolFailure,
		`{"code":2300,"message":"m"}`:                                               memorybank.FileNotFound,
		`{"code":2300,"message":"m","data":{"domain":"memory-bank"}}`:               memorybank.FileNotFound,
		`{"code":2300,"message":"m","data":{"domain":"other"}}`:                     candor.CodeUnknownToolFailure,
		`{"code":7,"message":"m","data":{"symbol":"E_KG_FULL"}}`:                    kg.Full,
		`{"code":77777,"message":"m"}`:                                              candor.CodeUnknownToolFailure,
		`{"code":-32050,"message":"m"}`:                                             candor.CodeInternalError,
		`{"code":0,"message":"m"}`:                                                  candor.CodeInternalError,
		`{"code":-32602,"message":"m"}`:                                             candor.CodeInvalidRequestParams,
		`{"code":-32602,"message":"m","data":{"uri":"file:///x"}}`:                  candor.CodeResourceNotFound,
		`{"code":-32002,"message":"m","data":{"uri":"file:///x"}}`:                  candor.CodeResourceNotFound,
		`{"code":123456789012345678901234567890,"message":"m","data":["anything"]}`: candor.CodeUnknownToolFailure,
	} {
		if got := read(t, d, []byte(raw)).Code(); got != want {
			t.Errorf("%s: %s, want %s", raw, got, want)
		}
	}
	e := read(t, d, []byte(`{"code":2300,"message":"m","data":{"domain":"vectordb","symbol":"E_VDB_FULL","size":3}}`))
	if got, want := e.Details().String(), `{"said":{"number":2300,"domain":"vectordb","symbol":"E_VDB_FULL"},"beside":["size"],"size":3}`; got != want || !e.Origin().Inferred {
		t.Errorf("\nwant %s\n got %s", want, got)
	}
}

func TestRPCIsWrittenWithTheIDAsItIs(t *testing.T) {
	d := lookup(t, "rpc")
	e := candor.New(candor.CodeParseError, "")
	for id, want := range map[string]string{"": "", "null": "null", "9007199254740993": "9007199254740993", `"a\u00e9"`: `"a\u00e9"`, "{}": "", "tru": ""} {
		v := parse(t, d.Write(nil, e, dialect.Options{ID: []byte(id)}))
		if got := string(v.Path("id").Raw()); got != want {
			t.Errorf("%q became %q", id, got)
		}
		if m := wire.Parse(v.Raw(), wire.Limits{}); m.Shape() != wire.KindError {
			t.Errorf("%s", v.Raw())
		}
	}
}

func TestMembersOfDataComeBackWhereTheyStood(t *testing.T) {
	d := lookup(t, "rpc")
	for data, details := range map[string]string{
		`"hint":"x"`:                                      `{"beside":["hint"],"hint":"x"}`,
		`"details":"text","hint":"x"`:                     `{"beside":["hint"],"value":"text","hint":"x"}`,
		`"details":{"a":1},"hint":"x","url":[7]`:          `{"beside":["hint","url"],"a":1,"hint":"x","url":[7]}`,
		`"details":{"hint":1},"hint":"x"`:                 `{"beside":["hint"],"value":{"hint":1},"hint":"x"}`,
		`"details":{"value":1},"hint":"x"`:                `{"beside":["hint"],"value":{"value":1},"hint":"x"}`,
		`"details":{"details":{"a":1}}`:                   `{"details":{"a":1}}`,
		`"details":{"beside":1},"elicitations":[{"a":1}]`: `{"beside":["elicitations"],"value":{"beside":1},"elicitations":[{"a":1}]}`,
		`"details":{"beside":1}`:                          `{"beside":1}`,
		`"uri":"mem://a"`:                                 `{"beside":["uri"],"uri":"mem://a"}`,
	} {
		raw := `{"code":2400,"message":"m","data":{"domain":"kg","symbol":"E_KG_FULL","retryable":true,` + data + `}}`
		e := read(t, d, []byte(raw))
		if got := e.Details().String(); got != details {
			t.Errorf("%s\nwant %s\n got %s", data, details, got)
		}
		sameJSON(t, raw, string(d.Encode(nil, e, dialect.Options{})))
		for _, name := range dialect.Names() {
			through := read(t, lookup(t, name), lookup(t, name).Write(nil, e, dialect.Options{}))
			sameJSON(t, raw, string(d.Encode(nil, through, dialect.Options{})))
		}
	}
}

func TestAMissingResourceIsExactlyAURI(t *testing.T) {
	d := lookup(t, "rpc")
	const raw = `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Resource not found","data":{"uri":"mem://a/b"}}}`
	e := read(t, d, []byte(raw))
	if e.Code() != candor.CodeResourceNotFound || e.Details().String() != `{"uri":"mem://a/b"}` {
		t.Fatalf("%s", canonical(e))
	}
	o := dialect.Options{ID: []byte("1")}
	for _, name := range dialect.Names() {
		through := read(t, lookup(t, name), lookup(t, name).Write(nil, e, o))
		sameJSON(t, raw, string(d.Write(nil, through, o)))
	}
	if got := string(dialect.AppendData(nil, e, o)); got != `{"uri":"mem://a/b"}` {
		t.Error(got)
	}
	more := e.With(candor.WithSuggestion("Ask Ann."), candor.WithRef("r-1"))
	if got := read(t, d, d.Write(nil, more, o)); canonical(got) != canonical(more) {
		t.Errorf("more than a uri was lost: %s", canonical(got))
	}
}
