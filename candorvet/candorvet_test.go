package candorvet_test

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/candor-mcp/candor/candorvet"
)

// TestEveryRuleFindsAndFixesWhatThePackagesSay runs over the packages below testdata/src. Their comments have the expected
// findings of each line, and golden files the result of the fixes. They are loaded together because
// loading takes most of the time.
//
//	raw, masked, logged, swallowed  one rule each: what is found, and under "What follows" what is not
//	mcpgo                           the other SDK
//	guarded                         handlers behind a boundary, whose plain errors are fine
//	noimport, taken                 files in which it is hard to import candor, or its name is taken
func TestEveryRuleFindsAndFixesWhatThePackagesSay(t *testing.T) {
	analysistest.RunWithSuggestedFixes(t, analysistest.TestData(), candorvet.Analyzer,
		"raw", "masked", "logged", "swallowed", "mcpgo", "noimport", "taken", "guarded")
}

// TestNakedReturnsAndEncodedErrors checks failures in return statements without results, and errors in encoded JSON.
func TestNakedReturnsAndEncodedErrors(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), candorvet.Analyzer, "naked")
}

func TestEveryFunctionIsLookedAtWhenAsked(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), candorvet.New(candorvet.Options{All: true}), "everywhere")
}

func TestOnlyChosenRulesAreApplied(t *testing.T) {
	only := candorvet.New(candorvet.Options{Rules: []string{candorvet.Swallowed}})
	for _, result := range analysistest.Run(quiet{t}, analysistest.TestData(), only, "masked", "swallowed") {
		for _, d := range result.Diagnostics {
			if d.Category != candorvet.Swallowed && d.Category != "allow" {
				t.Errorf("%s was not asked for: %s", d.Category, d.Message)
			}
		}
	}
}

// quiet ignores reports of unexpected findings.
type quiet struct{ t *testing.T }

func (quiet) Errorf(string, ...any) {}

func TestUnknownRuleIsRefusedWithTheList(t *testing.T) {
	err := candorvet.New(candorvet.Options{}).Flags.Set("rules", "rawerror,rawerors")
	if err == nil || !strings.Contains(err.Error(), `"rawerors"`) || !strings.Contains(err.Error(), "maskederror") {
		t.Errorf("%v", err)
	}
}

func TestEveryRuleSaysWhatToDoNext(t *testing.T) {
	var names []string
	for _, r := range candorvet.Rules() {
		names = append(names, r.Name)
		if r.Summary == "" || candorvet.NextStep(r.Name) != r.Next || !strings.Contains(r.Next, "candor") {
			t.Errorf("%+v", r)
		}
	}
	if !slices.Equal(names, candorvet.RuleNames()) {
		t.Error(names)
	}
}
