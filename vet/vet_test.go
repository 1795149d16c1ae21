package vet_test

import (
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/candor-mcp/candor/vet"
)

// TestEveryRuleFindsWhatThePackagesSay runs over the packages below testdata/src. Their comments have the expected
// findings of each line. They are loaded together because
// loading takes most of the time.
//
//	raw, masked, logged, swallowed  one rule each: what is found, and under "What follows" what is not
//	mcpgo                           the other SDK
//	guarded                         handlers behind a boundary, which may return plain errors
func TestEveryRuleFindsWhatThePackagesSay(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), vet.Analyzer, "raw", "masked", "logged", "swallowed", "mcpgo", "guarded")
}

func TestEveryFunctionIsLookedAtWhenAsked(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), vet.New(vet.Options{All: true}), "everywhere")
}

func TestOnlyChosenRulesAreApplied(t *testing.T) {
	only := vet.New(vet.Options{Rules: []string{"swallowed"}})
	for _, result := range analysistest.Run(quiet{t}, analysistest.TestData(), only, "masked", "swallowed") {
		for _, d := range result.Diagnostics {
			if d.Category != "swallowed" && d.Category != "allow" {
				t.Errorf("%s was not asked for: %s", d.Category, d.Message)
			}
		}
	}
}

// quiet ignores reports of unexpected findings.
type quiet struct{ t *testing.T }

func (quiet) Errorf(string, ...any) {}

func TestUnknownRuleIsRefusedWithTheList(t *testing.T) {
	err := vet.New(vet.Options{}).Flags.Set("rules", "rawerror,rawerors")
	if err == nil || !strings.Contains(err.Error(), `"rawerors"`) || !strings.Contains(err.Error(), "maskederror") {
		t.Errorf("%v", err)
	}
}
