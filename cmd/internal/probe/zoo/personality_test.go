package zoo_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/probe"
	"github.com/candor-mcp/candor/cmd/internal/probe/judge"
	"github.com/candor-mcp/candor/cmd/internal/probe/zoo"
)

func TestDefectsAreDescribed(t *testing.T) {
	rules := judge.Rules()
	seen := map[string]bool{}
	for _, d := range zoo.Defects() {
		if d.ID == "" || seen[d.ID] || d.Title == "" || d.About == "" || len(d.Cases) == 0 && d.ID != "banner" {
			t.Errorf("%+v is not told in full, or twice", d)
		}
		seen[d.ID] = true
		for _, id := range append(slices.Clone(d.Also), d.Rule) {
			if id != "" && !slices.ContainsFunc(rules, func(r probe.Rule) bool { return r.ID == id }) {
				t.Errorf("%s: there is no rule %s", d.ID, id)
			}
		}
	}
}

func TestNarrowNamesExistingDefects(t *testing.T) {
	narrow := 0
	for _, d := range zoo.Defects() {
		if d.Transport != "" || d.Protocol != "" {
			narrow++
		}
	}
	if narrow != 14 {
		t.Errorf("%d defects are bound to a transport or a version: a name is wrong in the table", narrow)
	}
}

func TestEveryPersonalityCanBeServed(t *testing.T) {
	for _, p := range zoo.Personalities() {
		o := zoo.Options{Personality: p.Name, Upstream: "http://127.0.0.1:1"}
		if err := o.Check(); err != nil {
			t.Errorf("%s: %v", p.Name, err)
			continue
		}
		tools := open(t, era2025, o).tools()
		names := map[string]bool{}
		for _, tool := range tools {
			names[tool.Name] = true
		}
		if len(names) != len(tools) || len(tools) == 0 {
			t.Errorf("%s: %d tools under %d names", p.Name, len(tools), len(names))
		}
		for _, d := range zoo.Defects() {
			if slices.Contains(p.Defects, d.ID) && d.Tool != "" && !names[d.Tool] {
				t.Errorf("%s: the tool of %s is missing", p.Name, d.ID)
			}
		}
		for _, id := range p.Defects {
			if !slices.ContainsFunc(zoo.Defects(), func(d zoo.Defect) bool { return d.ID == id }) {
				t.Errorf("%s: there is no defect %s", p.Name, id)
			}
		}
	}
}

func TestUnknownOptionsAreRefused(t *testing.T) {
	for _, o := range []zoo.Options{{Personality: "nobody"}, {Defects: []string{"nothing"}}, {Upstream: "ftp://x"}, {Upstream: "x"}} {
		if o.Check() == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
}

func TestUpstreamToolsNeedAnUpstream(t *testing.T) {
	for _, tool := range open(t, era2025, zoo.Options{}).tools() {
		if tool.Name[:3] == "up-" {
			t.Errorf("%s is there without an upstream", tool.Name)
		}
	}
}

func TestDualMatchesTheInventory(t *testing.T) {
	listed := zoo.DualTools()
	patterns := map[probe.Pattern]int{}
	for _, d := range listed {
		patterns[d.Pattern]++
	}
	if len(listed) != 27 || patterns[probe.PatternA] != 19 || patterns[probe.PatternB] != 8 {
		t.Fatalf("%d tools: %v", len(listed), patterns)
	}
	o := zoo.Options{Personality: zoo.PersonalityDual}
	if got := open(t, era2025, o).tools(); len(got) != 27 {
		t.Fatalf("%d tools are served", len(got))
	}
	for _, d := range listed {
		report, err := judge.Judge(run(t, o, d.Name, era2025, nil), judge.SetDual)
		if err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(report.Tools, func(r probe.ToolReport) bool { return r.Tool == d.Name })
		row := report.Tools[at]
		if len(row.Patterns) != 1 || row.Patterns[d.Pattern] == 0 {
			t.Errorf("%s: told in %v, not in %s alone", d.Name, row.Patterns, d.Pattern)
		}
		want := slices.Clone(d.Codes)
		if len(want) == 0 {
			want = []string{"ERR_VALIDATION"}
		}
		for _, code := range want {
			if !slices.Contains(row.Codes, code) {
				t.Errorf("%s: %s was not seen among %v", d.Name, code, row.Codes)
			}
		}
		for _, code := range row.Codes {
			if !slices.Contains(want, code) && code != d.Reason && !strings.EqualFold(strings.ReplaceAll(code, "_", "")+"Error", d.Reason) {
				t.Errorf("%s: %s is not in the document", d.Name, code)
			}
		}
	}
}

func TestTwoSessionsSeeTheSame(t *testing.T) {
	o := zoo.Options{Personality: "masking"}
	first, second := open(t, era2026, o), open(t, era2026, o)
	plan := planned(first.tools(), "masked-nested")
	second.tools()
	for _, k := range plan {
		if a, b := first.put(&k), second.put(&k); a.response != b.response || a.response == "" {
			t.Errorf("%s: %s and %s", k.Key(), a.response, b.response)
		}
	}
}
