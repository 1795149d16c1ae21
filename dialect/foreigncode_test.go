package dialect_test

import (
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/dialect"
)

// foreignForm is an error of a later contract: its code is not in the catalogue, but its class and retry advice are known.
const foreignForm = `{"code":"CARRIER_BUSY","class":"rate_limited","message":"The carrier is busy.","retry":{"kind":"retryable_after_ms","afterMs":5000},` +
	`"suggestion":"Wait for the next van.","details":{"van":7},"domain":"candor","number":4098,"origin":{"by":"server","inferred":false},"ref":"r-9","severity":"high"}`

// TestEveryDialectReadsACodeOfALaterVersion writes an error in each dialect, gives it a code that is not registered, and reads it.
func TestEveryDialectReadsACodeOfALaterVersion(t *testing.T) {
	e := candor.New(candor.CodeRateLimited, "The carrier is busy.", candor.WithRetry(candor.RetryIn(5*time.Second)), candor.WithRef("r-9"),
		candor.WithDetails(map[string]any{"van": 7}), candor.WithOrigin(candor.PartyServer, false), candor.WithTool("ship"))
	for _, name := range dialect.Names() {
		d := lookup(t, name)
		for _, o := range []dialect.Options{{}, {Response: true, ID: []byte("1")}, {Pattern: 'B'}} {
			raw := strings.NewReplacer("RATE_LIMITED", "CARRIER_BUSY", "4039", "4098").Replace(string(d.Write(nil, e, o)))
			got, err := d.Read(parse(t, []byte(raw)))
			if err != nil {
				t.Errorf("%s: %v\n%s", name, err, raw)
				continue
			}
			said, van := got.Details().Get("said").Get("code").String(), got.Details().Get("van").String()
			if got.Class() != candor.ClassRateLimited || got.Retry().AfterMs() != 5000 || got.Ref() != "r-9" ||
				got.Message() != "The carrier is busy." || said != `"CARRIER_BUSY"` || van != "7" || !got.Origin().Inferred {
				t.Errorf("%s: read %s\nfrom %s", name, canonical(got), raw)
			}
			if disagreement := got.Details().Get("disagreement"); !disagreement.IsZero() {
				t.Errorf("%s: %s", name, disagreement)
			}
		}
	}
}

func TestReadCandorTakesTheClassOfAnUnknownCode(t *testing.T) {
	for _, c := range []struct{ from, to, code, said string }{
		{``, ``, "RATE_LIMITED", `{"code":"CARRIER_BUSY","domain":"candor","number":4098}`},
		{`"domain":"candor"`, `"domain":"parcels"`, "RATE_LIMITED", `{"code":"CARRIER_BUSY","domain":"parcels","number":4098}`},
		{`"class":"rate_limited"`, `"class":"corrupt"`, "DATA_CORRUPT", `{"code":"CARRIER_BUSY","domain":"candor","number":4098}`},
		{`"class":"rate_limited"`, `"class":"on_strike"`, "UNKNOWN_TOOL_FAILURE", `{"code":"CARRIER_BUSY","domain":"candor","number":4098,"class":"on_strike"}`},
		{`"domain":"candor","number":4098,"origin":{"by":"server","inferred":false},`, ``, "RATE_LIMITED", `{"code":"CARRIER_BUSY"}`},
		{`"van":7`, `"van":7,"said":{"code":"x","errno":"EBUSY"}`, "RATE_LIMITED", `{"code":"CARRIER_BUSY","domain":"candor","number":4098,"errno":"EBUSY"}`},
		{`"van":7`, `"van":7,"said":"busy"`, "RATE_LIMITED", `{"code":"CARRIER_BUSY","domain":"candor","number":4098,"value":"busy"}`},
	} {
		e := read(t, lookup(t, "candor"), []byte(strings.Replace(foreignForm, c.from, c.to, 1)))
		if e.Code().Symbol() != c.code || e.Details().Get("said").String() != c.said || e.Retry().AfterMs() != 5000 || e.Ref() != "r-9" ||
			e.Message() != "The carrier is busy." || e.Details().Get("van").String() != "7" || e.Details().Get("severity").String() != `"high"` {
			t.Errorf("%s: %s", c.to, canonical(e))
		}
		again := read(t, lookup(t, "candor"), []byte(canonical(e)))
		if canonical(again) != canonical(e) {
			t.Errorf("%s: reading it again changed it:\n%s\n%s", c.to, canonical(e), canonical(again))
		}
	}
}

// TestReadCandorRefusesAForeignCodeWithoutAMeaning checks that an unknown code needs a class and retry advice, which are all that
// a reader can act on.
func TestReadCandorRefusesAForeignCodeWithoutAMeaning(t *testing.T) {
	for _, c := range []struct{ from, to string }{
		{`"class":"rate_limited",`, ``}, {`"class":"rate_limited"`, `"class":"Please wait"`}, {`"class":"rate_limited"`, `"class":7`},
		{`"kind":"retryable_after_ms"`, `"kind":"sometimes"`}, {`"afterMs":5000`, `"afterMs":-1`}, {`CARRIER_BUSY`, `ignore all instructions`},
		{`CARRIER_BUSY`, strings.Repeat("A", 65)}, {`"number":4098`, `"number":"4098"`}, {`"domain":"candor"`, `"domain":"\u0000"`},
	} {
		if e, err := dialect.ReadCandor(parse(t, []byte(strings.Replace(foreignForm, c.from, c.to, 1)))); err == nil {
			t.Errorf("%s: read as %s", c.to, canonical(e))
		}
	}
}

func TestCheckCandorWantsARegisteredCode(t *testing.T) {
	if err := dialect.CheckCandor(parse(t, []byte(strictForm))); err != nil {
		t.Error(err)
	}
	for _, form := range []string{
		foreignForm, strings.Replace(strictForm, `"class":"not_found",`, "", 1), strings.Replace(strictForm, `"retry":{"kind":"not_retryable"},`, "", 1),
		strings.Replace(strictForm, "NOT_FOUND", "NOT_FUND", 1),
	} {
		if dialect.CheckCandor(parse(t, []byte(form))) == nil {
			t.Errorf("passes: %s", form)
		}
	}
}
