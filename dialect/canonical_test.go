package dialect_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/kg"
	"github.com/candor-mcp/candor/codes/workrail"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/limits"
)

const strictForm = `{"code":"NOT_FOUND","class":"not_found","message":"m","retry":{"kind":"not_retryable"},"domain":"candor","number":4032,` +
	`"origin":{"by":"tool","inferred":false},"ref":"r"}`

func TestReadCandorIsTheInverseOfTheCanonicalForm(t *testing.T) {
	each(t, 4, func(e *candor.Error) {
		back, err := dialect.ReadCandor(parse(t, []byte(canonical(e))))
		if err != nil {
			t.Fatalf("%v\n%s", err, canonical(e))
		}
		if canonical(back) != canonical(e) {
			t.Fatalf("\nwant %s\n got %s", canonical(e), canonical(back))
		}
	})
}

func TestReadCandorRefusesWhatTheContractDoesNotKnow(t *testing.T) {
	for change, says := range map[string]string{
		`"code":"NOT_FOUND"→"code":"not found"`:                   "not found",
		`"code":"NOT_FOUND"→"code":7`:                             "code is of type number",
		`"class":"not_found"→"class":"denied"`:                    "which is not_found",
		`"domain":"candor"→"domain":"workrail"`:                   "which is 3301",
		`"domain":"candor"→"domain":"No Where"`:                   "No Where",
		`"number":4032→"number":4033`:                             "which is 4032",
		`"number":4032→"number":4032.0`:                           "which is 4032",
		`{"kind":"not_retryable"}→{"kind":"never"}`:               "never",
		`{"kind":"not_retryable"}→{"kind":"not_retryable","x":1}`: "retry",
		`{"kind":"not_retryable"}→"not_retryable"`:                "retry",
		`"by":"tool"→"by":"god"`:                                  "origin",
		`"inferred":false→"inferred":0`:                           "origin",
		`"message":"m"→"message":""`:                              "message is empty",
		`"ref":"r"→"ref":1`:                                       "ref is of type number",
		`"ref":"r"→"ref":"r","timestamp":"yesterday"`:             "timestamp",
		`"ref":"r"→"ref":"r","timestamp":"2026-11-15T01:21:55Z"`:  "timestamp",
		`"ref":"r"→"ref":"r","cause":{"message":"m"}`:             "cause",
		`"ref":"r"→"ref":"r","cause":7`:                           "cause",
		`"ref":"r"→"ref":"r","tool":7`:                            "tool is of type number",
	} {
		from, to, _ := strings.Cut(change, "→")
		raw := strings.Replace(strictForm, from, to, 1)
		_, err := dialect.ReadCandor(parse(t, []byte(raw)))
		var refused *dialect.ReadError
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), says) || refused.Hint == "" || len(err.Error()) > 512 {
			t.Errorf("%s: %v", change, err)
		}
	}
	if _, err := dialect.ReadCandor(parse(t, []byte(strictForm))); err != nil {
		t.Error(err)
	}
}

// TestReadCandorReadsTheBriefForm checks the form for places that a model reads.
func TestReadCandorReadsTheBriefForm(t *testing.T) {
	e := candor.NotRetryable(kg.Full, "full", candor.WithRef("r"), candor.WithOrigin(candor.PartyGateway, false))
	brief := e.AppendJSON(nil, candor.JSONOptions{Brief: true})
	if got := string(brief); got != `{"code":"E_KG_FULL","retry":{"kind":"not_retryable"},"domain":"kg","ref":"r"}` {
		t.Error(got)
	}
	if got := string(candor.New(candor.CodeNotFound, "no", candor.WithRef("r")).AppendJSON(nil, candor.JSONOptions{Brief: true})); got != `{"code":"NOT_FOUND","ref":"r"}` {
		t.Error(got)
	}
	read, err := dialect.ReadCandor(parse(t, brief))
	if err != nil || read.Code() != e.Code() || read.Retry() != e.Retry() || read.Ref() != "r" || read.Message() == "" || read.Origin().By != candor.PartyTool {
		t.Errorf("%v, %v", read, err)
	}
	if err := dialect.CheckCandor(parse(t, brief)); err == nil {
		t.Error("CheckCandor accepts the brief form")
	}
}

// TestReadCandorReadsTheLeanForm checks that the members that a gateway leaves out are read as they were.
func TestReadCandorReadsTheLeanForm(t *testing.T) {
	each(t, 4, func(e *candor.Error) {
		e = e.With(candor.WithCallInfo(candor.CallInfo{}), candor.WithTime(time.Time{}), candor.WithStack(""))
		lean := e.AppendJSON(nil, candor.JSONOptions{Lean: true})
		back, err := dialect.ReadCandor(parse(t, lean))
		if err == nil && e.Suggestion() == "" {
			back = back.With(candor.WithSuggestion("")) // the code's, if the author wanted none
		}
		if err != nil || dialect.CheckCandor(parse(t, lean)) != nil || back.Message() != e.Message() || back.Origin() != e.Origin() || back.Code() != e.Code() {
			t.Fatalf("%v\nwant %s\n got %s\nfrom %s", err, canonical(e), canonical(back), lean)
		}
	})
	guess := candor.New(candor.CodeNotFound, "", candor.WithOrigin(candor.PartyTool, true), candor.WithRef("r"), candor.WithTool("get"))
	if got := string(guess.AppendJSON(nil, candor.JSONOptions{Lean: true})); got != `{"code":"NOT_FOUND","class":"not_found","retry":{"kind":"not_retryable"},"ref":"r"}` {
		t.Error(got)
	}
}

// TestReadCandorKeepsMembersThatItDoesNotKnow checks that unknown members of any object are kept, because a later contract may add
// some.
func TestReadCandorKeepsMembersThatItDoesNotKnow(t *testing.T) {
	for _, c := range []struct{ from, to, details string }{
		{`"ref":"r"`, `"ref":"r","severity":"high","links":[{"code":7}]`, `{"severity":"high","links":[{"code":7}]}`},
		{`"ref":"r"`, `"ref":"r","details":{"a":1,"severity":2},"severity":"high"`, `{"a":1,"severity":2,"beside":{"severity":"high"}}`},
		{`"ref":"r"`, `"ref":"r","details":[1],"severity":"high"`, `{"value":[1],"severity":"high"}`},
		{`"inferred":false`, `"inferred":false,"host":"h"`, `{"origin":{"host":"h"}}`},
		{`{"code":`, `{"":null,"code":`, `{"":null}`},
		{`"ref":"r"`, `"ref":"r","cause":{"message":"m","code":null,"name":"E","errno":-2}`, `{"cause":{"errno":-2}}`},
	} {
		e := read(t, lookup(t, "candor"), []byte(strings.Replace(strictForm, c.from, c.to, 1)))
		if got := e.Details().String(); got != c.details || e.Code() != candor.CodeNotFound || e.Ref() != "r" || e.Message() != "m" {
			t.Errorf("%s\nwant %s\n got %s", c.to, c.details, canonical(e))
		}
	}
}

func TestTextThatIsReadIsRedactedAndBounded(t *testing.T) {
	long := strings.Repeat("ä", 4000)
	raw := strings.Replace(strictForm, `"message":"m"`, `"message":"see /home/ann/x.txt `+long+`","suggestion":"`+long+`"`, 1)
	for _, name := range []string{"candor"} {
		e := read(t, lookup(t, name), []byte(raw))
		if len(e.Message()) > limits.Message || len(e.Suggestion()) > limits.Suggestion || strings.Contains(e.Message(), "/home/") {
			t.Errorf("%s: %q", name, e.Message())
		}
	}
}

func TestVisibleMembersWinOverTheHiddenError(t *testing.T) {
	e := candor.New(workrail.TokenSessionLocked, "locked", candor.WithRef("r-1"), candor.WithDetails(map[string]any{"holder": "x"}))
	d := lookup(t, "tool-error")
	raw := string(d.Write(nil, e, dialect.Options{}))
	for _, c := range []struct{ from, to, code, message, retry, details string }{
		{`\"message\":\"locked\"`, `\"message\":\"gone\"`, "TOKEN_SESSION_LOCKED", "gone", "retryable_after_ms 1000", `{"disagreement":{"message":"locked"},"holder":"x"}`},
		{`\"afterMs\":1000`, `\"afterMs\":5`, "TOKEN_SESSION_LOCKED", "locked", "retryable_after_ms 5", `{"disagreement":{"retry":{"kind":"retryable_after_ms","afterMs":1000}},"holder":"x"}`},
		{`\"code\":\"TOKEN_SESSION_LOCKED\"`, `\"code\":\"NOT_FOUND\"`, "NOT_FOUND", "locked", "retryable_after_ms 1000",
			`{"disagreement":{"code":"workrail/TOKEN_SESSION_LOCKED","message":"locked"},"holder":"x"}`},
		{`"class":"unavailable"`, `"class":"denied"`, "TOKEN_SESSION_LOCKED", "locked", "retryable_after_ms 1000",
			`{"disagreement":{"reason":"reading candor: class \"denied\" is not that of workrail/TOKEN_SESSION_LOCKED, which is unavailable (hint: the written form is spec/schema/error.schema.json)"},"holder":"x"}`},
	} {
		edited := strings.Replace(raw, c.from, c.to, 1)
		if edited == raw {
			t.Fatalf("nothing to edit for %s in %s", c.from, raw)
		}
		got := read(t, d, []byte(edited))
		if got.Code().Symbol() != c.code || got.Message() != c.message || got.Retry().String() != c.retry || got.Details().String() != c.details {
			t.Errorf("%s:\n%s", c.to, canonical(got))
		}
		if again := read(t, d, d.Write(nil, got, fullView)); canonical(again) != canonical(got) {
			t.Errorf("reading it again changed it:\n%s\n%s", canonical(got), canonical(again))
		}
	}
}
