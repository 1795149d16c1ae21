package rules_test

import (
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/candor-mcp/candor/internal/probe"
	"github.com/candor-mcp/candor/internal/probe/rules"
	"github.com/candor-mcp/candor/internal/testing/corpus"
)

// recordings is read once for all tests.
var recordings = sync.OnceValues(func() ([]corpus.Record, error) { return corpus.Load(corpus.Failures) })

// TestLabelsAgreeWithTheCorpus compares the labels of recorded answers with those of the corpus, and fails below the
// promised agreement.
func TestLabelsAgreeWithTheCorpus(t *testing.T) {
	records, err := recordings()
	if errors.Is(err, corpus.ErrAbsent) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	tools := recordedTools(t)
	wrong := mislabelled(t)
	hits, all := 0, 0
	for i := range records {
		r := &records[i]
		if wrong[[3]string{r.Server, r.Tool, r.Case}] {
			continue
		}
		o := observation(r)
		all++
		if got := rules.Label(&o, tools[r.Server][r.Tool]); got == r.Pattern {
			hits++
		} else if os.Getenv("SHOW") != "" {
			t.Logf("%s %s %s: %s, not %s\n    %.300s\n    %.500s", r.Server, r.Tool, r.Case, got, r.Pattern, r.Request, r.Response)
		}
	}
	t.Logf("%d of %d records agree; left out as mislabelled: %d", hits, all, len(wrong))
	// 97 % is promised; the higher limit detects regressions.
	if 1000*hits < 995*all {
		t.Error("labels agree for less than 99.5 %")
	}
}

// observation returns a record as probe would have observed it.
func observation(r *corpus.Record) probe.Observation {
	o := probe.Observation{
		Case:    probe.Case{Group: probe.Group(r.Group), Name: r.Case, Tool: r.Tool, Field: pointer(r.Field), Expect: expectation(r)},
		Request: literal(r.Request), Response: literal(r.Response), Outcome: probe.Outcome(r.Outcome),
	}
	if r.Outcome == "answered_null_id" {
		o.Outcome = probe.OutcomeAnswered
	}
	return o
}

// pointer returns the field of a case, "" if the record has several.
func pointer(field string) string {
	if field == "" || strings.Contains(field, ",") {
		return ""
	}
	return "/" + field
}

// misuse lists the cases that a server may leave unanswered.
var misuse = []string{probe.CaseMalformedJSON, probe.CaseNotJSONRPC, probe.CaseNoMethod, probe.CaseBatch, probe.CaseParamsArray}

// expectation returns the expectation of the case with that name.
func expectation(r *corpus.Record) probe.Expect {
	switch {
	case r.Group == "validation" && r.Case != probe.CaseExtraProperty:
		return probe.ExpectRefusal
	case r.Group == "upstream" || r.Case == probe.CaseNonexistent:
		return probe.ExpectFailure
	case r.Group == "protocol" && slices.Contains(misuse, r.Case):
		return probe.ExpectSilence
	case r.Group == "protocol":
		return probe.ExpectRefusal
	default:
		return probe.ExpectAnswer
	}
}

// literal returns the message as sent: some were recorded as text.
func literal(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var sent struct {
		Raw string `json:"raw"`
	}
	if json.Unmarshal(raw, &sent) == nil && sent.Raw != "" {
		return sent.Raw
	}
	return string(raw)
}
