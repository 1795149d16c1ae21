package contract_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/wire"
)

func seed(f *testing.F) {
	f.Helper()
	t := &testing.T{}
	for _, v := range vectors(t) {
		f.Add([]byte(orNull(v.Request)), []byte(orNull(v.Response)))
	}
	f.Add([]byte(`null`), []byte(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"\ud800"}],"isError":true}}`))
	f.Add([]byte(`{}`), []byte("\xff\xfe{}"))
}

// FuzzRead checks that every pair of messages has exactly one verdict of the closed set, and that a failure has a complete error.
func FuzzRead(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, request, response []byte) {
		asked := wire.Parse(request, wire.Limits{})
		x := contract.Exchange{Request: &asked, Response: wire.Parse(response, wire.Limits{}), Ref: "r"}
		got := contract.Read(&x)
		if !known(got.Verdict) || got.Certainty != contract.Certain && got.Certainty != contract.Suspected {
			t.Fatalf("verdict %q %q", got.Verdict, got.Certainty)
		}
		if got.Confidence <= 0 || got.Confidence > 1 || (got.Confidence == 1) != (got.Certainty == contract.Certain) {
			t.Fatalf("confidence %v for %s", got.Confidence, got.Certainty)
		}
		if got.Verdict.Failure() != (got.Error != nil) {
			t.Fatalf("verdict %s with error %v", got.Verdict, got.Error)
		}
		if got.Error == nil {
			return
		}
		if err := got.Error.Validate(); err != nil && !got.Error.Code().Valid() {
			t.Fatal(err)
		}
		if out := got.Error.AppendJSON(nil, candor.JSONOptions{}); !json.Valid(out) || len(out) > 32<<10 {
			t.Fatalf("envelope of %d bytes is not sound: %s", len(out), out)
		}
	})
}

func known(v contract.Verdict) bool {
	for _, k := range contract.Verdicts() {
		if v == k {
			return true
		}
	}
	return false
}

// FuzzNormalise checks that the attached error reads back as the same error, that attaching it twice changes nothing, and that
// every byte of the original is kept.
func FuzzNormalise(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, _, response []byte) {
		m := wire.Parse(response, wire.Limits{})
		if m.Err() != nil {
			return
		}
		x := contract.Exchange{Response: m, Ref: "r"}
		got := contract.Read(&x)
		if got.Error == nil || got.Certainty != contract.Certain {
			return
		}
		once, err := contract.Normalise(nil, &m, got.Error, contract.Client{})
		if err != nil {
			t.Fatalf("normalising a sound message: %v", err)
		}
		checkNormalised(t, response, once, got.Error)
	})
}

func checkNormalised(t *testing.T, original, once []byte, e *candor.Error) {
	t.Helper()
	m := wire.Parse(once, wire.Limits{})
	if m.Err() != nil {
		t.Fatalf("the normalised message is malformed: %v\n%s", m.Err(), once)
	}
	twice, err := contract.Normalise(nil, &m, e, contract.Client{})
	if err != nil || !bytes.Equal(once, twice) {
		t.Fatalf("not idempotent (%v):\n%s\n%s", err, once, twice)
	}
	if !replaceable(original) && !subsequence(original, once) {
		t.Fatalf("bytes were lost:\n%s\n%s", original, once)
	}
	again := contract.Read(&contract.Exchange{Response: m, Ref: "r"})
	if again.Error == nil || again.Error.Code() != e.Code() {
		t.Fatalf("read back as %v, was %v", again.Error, e)
	}
}

// replaceable reports whether a value may be replaced: an empty one, such as a null _meta, or a canonical error or its copy.
func replaceable(original []byte) bool {
	for _, nothing := range []string{"null", "false", `""`, "{}", "[]", "0", "dev.candor", `"origin"`} {
		if bytes.Contains(original, []byte(nothing)) {
			return true
		}
	}
	return false
}

// subsequence reports whether b contains all bytes of a in order.
func subsequence(a, b []byte) bool {
	i := 0
	for _, c := range b {
		if i < len(a) && a[i] == c {
			i++
		}
	}
	return i == len(a)
}
