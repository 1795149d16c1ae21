package rules_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/internal/probe"
	"github.com/candor-mcp/candor/internal/probe/rules"
)

// TestRulesSkipUnrelatedCases has, for each rule, an answer that looks like a violation but is correct, and a
// violation.
func TestRulesSkipUnrelatedCases(t *testing.T) {
	t.Parallel()
	extra := func(words string) probe.Observation {
		return invalid(probe.CaseExtraProperty, "/zz_unknown_property", text(true, words))
	}
	const sorry = "INVALID: provide either a date or a name"
	for _, tc := range []struct {
		name, rule   string
		spared, held scene
	}{
		{"a refusal that sound arguments meet, too, is not about the argument that was added", "EC015",
			one(absent(text(true, sorry)), extra(sorry)), one(absent(text(true, "GONE: no such page")), extra(sorry))},
		{"a tool that is not there refuses no arguments", "EC015",
			one(absent(text(true, "Unknown tool: search")), missing(text(true, "Unknown tool: search"))), one(absent(text(true, "GONE: no such page")), missing(text(true, sorry)))},
		{"what fails whatever it is asked refuses no arguments, either", "EC015",
			one(absent(text(true, "The daemon is not in the mood")), missing(text(true, "The daemon is not in the mood"))), one(absent(text(true, "GONE: no such page")), missing(text(true, "The daemon is not in the mood")))},
		{"nor does what is told as a success whatever it is asked", "EC015",
			one(absent(text(false, "[stderr]\nThe daemon is not in the mood\n\nExit code: 1")), missing(text(false, "[stderr]\nThe daemon is not in the mood\n\nExit code: 1"))),
			one(absent(text(false, "page one")), missing(text(false, "[stderr]\nThe daemon is not in the mood\n\nExit code: 1")))},
		{"another argument that is wrong may be named first", "EC015",
			one(absent(text(true, "GONE: no such page")), extra("INVALID: page must be a number")).change(asks("zz")), one(absent(text(true, "GONE: no such page")), extra("INVALID: that must be a number")).change(asks("zz"))},
		{"a place in a list is no name", "EC015",
			one(absent(text(true, "GONE: no such page")), extra("INVALID: pages must be numbers")).with(takesPages).change(asksForPages),
			one(absent(text(true, "GONE: no such page")), extra("INVALID: 0 of 1 were sound")).with(takesPages).change(asksForPages)},
		{"a call that is counted elsewhere is not carried out there", "EC023",
			one(asked(1, missing(text(true, "INVALID: query is required")))), one(asked(1, missing(text(true, "INVALID: page is required"))))},
		{"a bug within an explanation is not all that is said", "EC014",
			one(missing(text(true, "BAD: the service could not be asked.\n\nReport this to us: event 17.\n\nCannot read properties of undefined (reading 'length')"))),
			one(missing(text(true, "BAD: Cannot read properties of undefined (reading 'length')")))},
		{"advice in prose is advice", "EC012",
			one(upstream(probe.CaseUpstream503, text(true, "AWAY: Please wait a moment and try again."))), one(upstream(probe.CaseUpstream503, text(true, "AWAY: We are away.")))},
		{"advice in the message of a JSON-RPC error, too", "EC012",
			one(upstream(probe.CaseUpstream503, rpc(-32603, "We are away, retry later."))), one(upstream(probe.CaseUpstream503, rpc(-32603, "We are away.")))},
		{"who asks for a page is given one", "EC035",
			one(upstream(probe.CaseUpstreamHTML, text(false, "Welcome to this network."))).change(asks("https://example.com/page")),
			one(upstream(probe.CaseUpstreamHTML, text(false, "Welcome to this network."))).change(asks("page"))},
	} {
		if got, report := found(t, tc.spared); strings.Contains(got, tc.rule) {
			t.Errorf("%s, and %s is found\n%s", tc.name, tc.rule, show(report))
		}
		if got, report := found(t, tc.held); !strings.Contains(got, tc.rule) {
			t.Errorf("%s, but here %s is to be found\n%s", tc.name, tc.rule, show(report))
		}
	}
}

func takesPages(t *probe.Tool) {
	t.InputSchema = json.RawMessage(`{"type":"object","properties":{"pages":{"type":"array","items":{"type":"number"}}}}`)
}

func asksForPages(o *probe.Observation) {
	o.Request = strings.Replace(o.Request, `"arguments":{}`, `"arguments":{"pages":["zz"]}`, 1)
}

// TestUnusedUpstreamIsNotASwallowedFailure labels one success, with and without a request to the upstream.
func TestUnusedUpstreamIsNotASwallowedFailure(t *testing.T) {
	t.Parallel()
	for name, asking := range map[string]string{probe.CaseUpstream500: rules.LabelSilent, probe.CaseUpstreamHTML: rules.LabelGarbage} {
		o := upstream(name, text(false, "2026-11-15"))
		o.Case.Fault = strings.TrimPrefix(name, "up_")
		if got := rules.Label(&o, nil); got != rules.LabelOkOrEmpty {
			t.Errorf("%s without a request: %s", name, got)
		}
		o.Hits = 1
		if got := rules.Label(&o, nil); got != asking {
			t.Errorf("%s with one: %s, want %s", name, got, asking)
		}
	}
}

// TestFaultIsNotJudgedWithoutUpstreamRequests has a tool with a database: it finds a closed port, and never sees an
// HTTP status.
func TestFaultIsNotJudgedWithoutUpstreamRequests(t *testing.T) {
	t.Parallel()
	fault := func(name string, hits int) probe.Observation {
		o := upstream(name, rpc(-32603, "the database is away"))
		o.Case.Fault, o.Hits = strings.TrimPrefix(name, "up_"), hits
		return o
	}
	away := one(fault(probe.CaseUpstreamDown, 1), fault(probe.CaseUpstream401, 0), fault(probe.CaseUpstream404, 0), fault(probe.CaseUpstream429, 0))
	if got, report := found(t, away); strings.Contains(got, "EC032") || strings.Contains(got, "EC012") || !strings.Contains(got, "EC026") {
		t.Errorf("found %s\n%s", got, show(report))
	}
	asked := one(fault(probe.CaseUpstreamDown, 1), fault(probe.CaseUpstream401, 1), fault(probe.CaseUpstream404, 1), fault(probe.CaseUpstream429, 1))
	if got, report := found(t, asked); !strings.Contains(got, "EC032") || !strings.Contains(got, "EC012") {
		t.Errorf("asked, and found %s\n%s", got, show(report))
	}
}

// TestShortAnswersAreSearchedForFailures checks that the same words prove nothing if the call could have succeeded.
func TestShortAnswersAreSearchedForFailures(t *testing.T) {
	t.Parallel()
	for _, words := range []string{"[stderr] Cannot reach the daemon", "done\n\nExit code: 1", "The socket refused us"} {
		o := missing(text(false, words))
		if got := rules.Label(&o, nil); got != rules.LabelMaskedText {
			t.Errorf("%q: %s", words, got)
		}
	}
	if o := missing(text(false, "two files\n\nExit code: 0")); rules.Label(&o, nil) != rules.LabelSilent {
		t.Error("an exit code of 0 is no failure")
	}
}

// TestTruncatedRecordingCountsAsResult has an answer that probe truncated, so that its end is unknown.
func TestTruncatedRecordingCountsAsResult(t *testing.T) {
	t.Parallel()
	o := absent(`"result":{"content":[{"type":"text","text":"page one, page t…[+900 chars]`)
	o.Response = strings.TrimSuffix(o.Response, "}")
	if got := rules.Label(&o, nil); got != rules.LabelOkOrEmpty {
		t.Errorf("cut by a recorder: %s", got)
	}
	o.Size = 2000
	if got := rules.Label(&o, nil); got != rules.LabelNoAnswer {
		t.Errorf("cut by probe: %s", got)
	}
}
