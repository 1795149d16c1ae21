package judge_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/probe"
	"github.com/candor-mcp/candor/cmd/internal/probe/judge"
	"github.com/candor-mcp/candor/internal/testing/corpus"
)

// recordings is read once for all tests.
var recordings = sync.OnceValues(func() ([]corpus.Record, error) { return corpus.Load(corpus.Failures) })

type agreement struct{ hits, all int }

func (a agreement) percent() float64 { return 100 * float64(a.hits) / float64(max(a.all, 1)) }

func count(m map[string]agreement, key string, hit bool) {
	a := m[key]
	a.all++
	if hit {
		a.hits++
	}
	m[key] = a
}

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
	var total agreement
	perPattern, perServer := map[string]agreement{}, map[string]agreement{}
	var missed []string
	for i := range records {
		r := &records[i]
		if wrong[[3]string{r.Server, r.Tool, r.Case}] {
			continue
		}
		tool := tools[r.Server][r.Tool]
		o := observation(r)
		got := judge.Label(&o, tool)
		hit := got == r.Pattern
		total.all++
		if hit {
			total.hits++
		} else {
			missed = append(missed, fmt.Sprintf("%s %s %s: %s, not %s\n    %.300s\n    %.500s", r.Server, r.Tool, r.Case, got, r.Pattern, r.Request, r.Response))
		}
		count(perPattern, r.Pattern, hit)
		count(perServer, r.Server, hit)
	}
	macro := 0.0
	for _, a := range perServer {
		macro += a.percent() / float64(len(perServer))
	}
	t.Logf("%d of %d records, %.2f %%; mean over %d servers %.2f %%; left out as mislabelled: %d", total.hits, total.all, total.percent(), len(perServer), macro, len(wrong))
	t.Log("\n" + table(perPattern, false) + "\n" + table(perServer, true))
	if os.Getenv("SHOW") != "" {
		t.Logf("%s", strings.Join(missed, "\n"))
	}
	// 97 % is promised; the higher limit detects regressions.
	if total.percent() < 99.5 {
		t.Errorf("labels agree for %.2f %%, want 99.5 %%", total.percent())
	}
}

func table(m map[string]agreement, onlyMisses bool) string {
	var names []string
	for n, a := range m {
		if !onlyMisses || a.hits < a.all {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	out := ""
	for _, n := range names {
		out += fmt.Sprintf("%-50s %5d of %5d  %6.2f %%\n", n, m[n].hits, m[n].all, m[n].percent())
	}
	return out
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
