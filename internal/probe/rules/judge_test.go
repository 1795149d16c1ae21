package rules_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/candor-mcp/candor"
	kaizacode "github.com/candor-mcp/candor/codes/kaiza"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/probe"
	"github.com/candor-mcp/candor/internal/probe/rules"
)

func report(t *testing.T, s scene) *probe.Report {
	t.Helper()
	_, r := found(t, s)
	return r
}

func TestGradeFollowsFromTheRulesThatAreBroken(t *testing.T) {
	fine := missing(good("INVALID", "query is missing", ""))
	minor := invalid(probe.CaseMissingRequired, "", good("INVALID", "query is missing", ""))
	major := missing(good("INVALID", "the arguments are wrong", ""))
	critical := absent(text(false, notOK))
	hung := absent("")
	hung.Outcome, hung.Response = probe.OutcomeHang, ""
	swallowed := upstream(probe.CaseUpstream500, text(false, "The page was saved."))
	leak := absent(good("DENIED", "the key sk-zz9secret-1 may not read this", ""))
	for _, c := range []struct {
		want probe.Grade
		seen []probe.Observation
	}{
		{probe.GradeA, []probe.Observation{fine}},
		{probe.GradeB, []probe.Observation{fine, minor}},
		{probe.GradeC, []probe.Observation{fine, minor, major, major}},
		{probe.GradeD, []probe.Observation{fine, critical}},
		{probe.GradeF, []probe.Observation{fine, critical, swallowed, leak}},
		{probe.GradeF, []probe.Observation{hung, hung}},
	} {
		r := report(t, one(c.seen...))
		if r.Tools[0].Grade != c.want {
			t.Errorf("%d cases: %s (%d), want %s\n%s", len(c.seen), r.Tools[0].Grade, r.Tools[0].Score, c.want, show(r))
		}
	}
}

func TestServerWithoutAFailureHasNoGrade(t *testing.T) {
	for name, s := range map[string]scene{
		"nothing seen":     one(),
		"successes only":   one(absent(text(false, "[]"))),
		"protocol only":    one(server(probe.CaseUnknownMethod, rpc(-32601, "method not found"))),
		"silence, allowed": one(server(probe.CaseMalformedJSON, "")).change(silent),
	} {
		if r := report(t, s); r.Grade != "" || r.Incomplete == "" || r.Tools[0].Skipped == "" {
			t.Errorf("%s: grade %q, %q, tool %q", name, r.Grade, r.Incomplete, r.Tools[0].Skipped)
		}
	}
}

// TestServerGradeIsBoundedByBadTools checks that a few bad tools among many good ones limit the grade, and that the
// list of fixes accounts for the limit.
func TestServerGradeIsBoundedByBadTools(t *testing.T) {
	of := func(bad, all int, answer probe.Observation) *probe.Report {
		run := &probe.Run{}
		for i := range all {
			o := missing(good("INVALID", "query is missing", ""))
			if i < bad {
				o = answer
			}
			o.Case.Tool = fmt.Sprintf("tool%02d", i)
			run.Observations = append(run.Observations, o)
		}
		r, err := rules.Judge(run, "")
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	masked := absent(text(false, notOK))
	for _, c := range []struct {
		bad, all int
		want     probe.Grade
	}{{0, 27, probe.GradeA}, {1, 27, probe.GradeC}, {6, 27, probe.GradeC}, {7, 28, probe.GradeC}, {8, 27, probe.GradeD}} {
		r := of(c.bad, c.all, masked)
		if r.Grade != c.want {
			t.Errorf("%d of %d tools mask: %s, want %s", c.bad, c.all, r.Grade, c.want)
		}
		if c.bad > 0 && !strings.Contains(r.Raise[0], "Then A (100)") {
			t.Errorf("raise: %q", r.Raise)
		}
	}
	if r := of(1, 27, missing(good("INVALID", "the arguments are wrong", ""))); r.Grade != probe.GradeB {
		t.Errorf("one major thing among 27 tools: %s", r.Grade)
	}
}

func TestNoiseAtTheStartBelongsToTheServer(t *testing.T) {
	run := one(missing(good("INVALID", "query is missing", ""))).run()
	run.Greeting = server("initialize", `"result":{}`)
	run.Greeting.Noise = []string{"listening…"}
	r, err := rules.Judge(run, "")
	if err != nil || len(r.Findings) != 1 || r.Findings[0].Rule != "EC029" || r.Findings[0].Tool != "" || !strings.Contains(r.Findings[0].Evidence[0].Response, "listening") {
		t.Errorf("%v\n%s", err, show(r))
	}
}

// TestInventoryCountsPatternsAsTheDualAuditDoes has one tool that throws, one that returns its errors as data, and one
// that does both.
func TestInventoryCountsPatternsAsTheDualAuditDoes(t *testing.T) {
	thrown := text(true, `{"ok":false,"error":{"code":"INVALID_PARAMS","message":"query is missing"}}`)
	returned := text(false, `{"ok":true,"data":{"ok":false,"error":{"code":"ERR_NOT_FOUND","message":"no such task"}}}`)
	run := &probe.Run{}
	add := func(tool string, o probe.Observation) {
		o.Case.Tool = tool
		run.Observations = append(run.Observations, o)
	}
	add("vrf_eval", missing(thrown))
	add("merkle_root", absent(returned))
	add("task_get", missing(thrown))
	add("task_get", absent(returned))
	add("task_get", absent(returned))
	r, err := rules.Judge(run, rules.SetDual)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"merkle_root": "map[B:1] [ERR_NOT_FOUND] [symbol] n/a",
		"task_get":    "map[A:1 B:2] [ERR_NOT_FOUND INVALID_PARAMS] [symbol] always",
		"vrf_eval":    "map[A:1] [INVALID_PARAMS] [symbol] always",
	}
	for _, row := range r.Tools {
		if got := fmt.Sprintf("%v %v %v %s", row.Patterns, row.Codes, row.Kinds, row.Field); got != want[row.Tool] {
			t.Errorf("%s: %s, want %s", row.Tool, got, want[row.Tool])
		}
	}
	if r.Masked != 3 || r.Failures != 5 || r.Dialect != "dual" {
		t.Errorf("masked %d, failures %d, dialect %q", r.Masked, r.Failures, r.Dialect)
	}
}

func TestEachDialectIsRecognised(t *testing.T) {
	for _, name := range dialect.Names() {
		d := dialect.Must(name)
		if d.Name() == "problem" {
			continue
		}
		o := absent("")
		o.Response = string(d.Write(nil, candor.New(candor.CodeNotFound, "no such page"), dialect.Options{ID: []byte("7"), Response: true}))
		r := report(t, one(o))
		if r.Dialect != name || !slices.Equal(r.Tools[0].Dialects, []string{name}) {
			t.Errorf("%s: read as %q, tools %q\n%s", name, r.Dialect, r.Tools[0].Dialects, o.Response)
		}
	}
}

// TestCanonicalErrorsGradeA checks that a server that attaches the canonical error to every failure gets an A.
func TestCanonicalErrorsGradeA(t *testing.T) {
	issues := candor.WithDetails(map[string]any{"issues": []candor.Issue{{Path: "/query", Rule: "required"}, {Path: "/page", Rule: "required"}}})
	write := func(o probe.Observation, e *candor.Error) probe.Observation {
		name := "candor"
		if o.Case.Tool == "" {
			name = "rpc"
		}
		o.Response = string(dialect.Must(name).Write(nil, e.With(candor.WithRef("r-1")), dialect.Options{ID: []byte("7"), Response: true}))
		return o
	}
	s := one(
		write(invalid(probe.CaseMissingRequired, "", ""), candor.New(candor.CodeInvalidArguments, "two arguments are missing", issues)),
		write(absent(""), candor.New(candor.CodeNotFound, "no such page")),
		write(upstream(probe.CaseUpstream429, ""), candor.RetryableAfter(candor.CodeRateLimited, 37e9, "too many calls")),
		write(upstream(probe.CaseUpstream401, ""), candor.New(candor.CodeUnauthenticated, "the key is wrong")),
		write(server(probe.CaseUnknownMethod, ""), candor.New(candor.CodeMethodNotFound, "no such method")),
	).under(rules.SetCandor).at(newest)
	r := report(t, s)
	if r.Grade != probe.GradeA || r.Score != 100 {
		t.Errorf("grade %s (%d)\n%s", r.Grade, r.Score, show(r))
	}
	if row := r.Tools[0]; row.Retry != "yes" || row.Field != "always" {
		t.Errorf("retry %q, field %q", row.Retry, row.Field)
	}
}

func TestTwoAnswersAreNotMalformed(t *testing.T) {
	o := server(probe.CaseDuplicateID, `"result":{}`)
	o.Case.Group, o.Case.Expect = probe.GroupLiveness, probe.ExpectSilence
	o.Response += "\n" + o.Response
	o.Request += "\n" + o.Request
	if got, r := found(t, one(missing(good("INVALID", "query is missing", "")), o)); got != "" || r.Protocol.Failures != 0 {
		t.Errorf("found %q, failures %d", got, r.Protocol.Failures)
	}
}

// TestPreconditionsMayComeBeforeArguments has a tool that reports a missing session before it checks its arguments.
func TestPreconditionsMayComeBeforeArguments(t *testing.T) {
	if got, _ := found(t, one(missing(canonical(kaizacode.SessionNotInitialized, "no session has been started")))); got != "" {
		t.Errorf("found %q", got)
	}
}

func TestSpecSetHasOnlySpecificationRules(t *testing.T) {
	if got, r := found(t, one(missing(text(true, "wrong"))).under(rules.SetSpec)); got != "" || r.Grade != probe.GradeA {
		t.Errorf("found %q, grade %s", got, r.Grade)
	}
}

func TestUnknownSetErrorListsSets(t *testing.T) {
	_, err := rules.Judge(&probe.Run{}, "zz")
	if err == nil || !strings.Contains(err.Error(), "workrail") {
		t.Errorf("error: %v", err)
	}
}

func TestEvidenceIsBoundedAndRedacted(t *testing.T) {
	o := absent(good("DENIED", "password=hunter2hunter2 "+strings.Repeat("é", 4000), ""))
	o.Request = strings.Replace(o.Request, `"arguments":{}`, `"arguments":{"note":"`+strings.Repeat("y", 2000)+`"}`, 1)
	r := report(t, one(o))
	if len(r.Findings) == 0 {
		t.Fatal("nothing was found")
	}
	for _, f := range r.Findings {
		for _, e := range f.Evidence {
			if len(e.Request) > 512 || len(e.Response) > 1024 || strings.Contains(e.Response, "hunter2") {
				t.Errorf("%s: %d and %d bytes: %s", f.Rule, len(e.Request), len(e.Response), e.Response)
			}
		}
	}
}

// TestSameRunGivesTheSameReport checks that the order of the cases changes only which of them are shown.
func TestSameRunGivesTheSameReport(t *testing.T) {
	run := &probe.Run{}
	for i, c := range ruleTable() {
		for _, o := range c.bad.seen {
			if o.Case.Tool != "" {
				o.Case.Tool = fmt.Sprint("tool", i%7)
			}
			run.Observations = append(run.Observations, o)
		}
	}
	first := ""
	for range 5 {
		r, err := rules.Judge(run, rules.SetKaiza)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if first != "" && first != string(raw) {
			t.Fatal("another report")
		}
		first = string(raw)
	}
}

func TestFindingsComeTheWorstFirst(t *testing.T) {
	r := report(t, one(absent(text(false, notOK)), missing(text(true, "wrong")), invalid(probe.CaseMissingRequired, "", good("INVALID", "query is missing", ""))))
	rank := map[probe.Severity]int{probe.SeverityCritical: 0, probe.SeverityMajor: 1, probe.SeverityMinor: 2, probe.SeverityInfo: 3}
	if !slices.IsSortedFunc(r.Findings, func(a, b probe.Finding) int { return rank[a.Severity] - rank[b.Severity] }) || len(r.Findings) < 4 {
		t.Errorf("order:\n%s", show(r))
	}
	keys := map[string]bool{}
	for i := range r.Findings {
		keys[r.Findings[i].Rule+r.Findings[i].Tool] = true
	}
	if len(keys) != len(r.Findings) {
		t.Errorf("a rule is told twice of one tool: %v", slices.Sorted(maps.Keys(keys)))
	}
}

func FuzzJudge(f *testing.F) {
	for _, c := range ruleTable() {
		o := c.bad.seen[len(c.bad.seen)-1]
		f.Add(string(o.Case.Group), o.Case.Name, string(o.Case.Expect), string(o.Outcome), o.Request, o.Response, string(c.bad.tool.InputSchema), string(c.bad.tool.OutputSchema))
	}
	f.Fuzz(func(t *testing.T, group, name, expect, outcome, request, response, input, output string) {
		tool := probe.Tool{Name: "search", InputSchema: json.RawMessage(input), OutputSchema: json.RawMessage(output)}
		o := probe.Observation{Case: probe.Case{Group: probe.Group(group), Name: name, Tool: "search", Field: input, Expect: probe.Expect(expect)},
			Request: request, Response: response, Outcome: probe.Outcome(outcome), Noise: []string{output}}
		again := o
		again.Case.Again = 1
		server := o
		server.Case.Tool = ""
		run := &probe.Run{Tools: []probe.Tool{tool, tool}, Observations: []probe.Observation{o, again, server}}
		for _, set := range rules.Sets() {
			r, err := rules.Judge(run, set)
			if err != nil {
				t.Fatal(err)
			}
			for i := range r.Findings {
				for _, e := range r.Findings[i].Evidence {
					if len(e.Request) > 512 || len(e.Response) > 1024 {
						t.Fatalf("evidence of %d and %d bytes", len(e.Request), len(e.Response))
					}
				}
			}
		}
		if rules.Label(&o, nil) == "" {
			t.Fatal("no label")
		}
	})
}
