package candorvet_test

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/candor-mcp/candor/candorvet"
)

// The packages below testdata/src say in their comments what must be found on each line, and that nothing else may be.

func TestPlainErrorsOfHandlersAreFound(t *testing.T) { fixes(t, "raw") }

func TestFailuresDressedAsSuccessesAreFound(t *testing.T) { fixes(t, "masked") }

func TestLoggedAndForgottenErrorsAreFound(t *testing.T) { finds(t, "logged") }

func TestDroppedErrorsAreFound(t *testing.T) { finds(t, "swallowed") }

func TestHandlersOfMCPGoAreKnown(t *testing.T) { fixes(t, "mcpgo") }

// TestFixesImportCandorWhateverTheImportsLookLike covers a file without an import block, and one where candor has another name or the
// name is taken.
func TestFixesImportCandorWhateverTheImportsLookLike(t *testing.T) { fixes(t, "noimport", "taken") }

func TestEveryFunctionIsLookedAtWhenAsked(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), candorvet.New(candorvet.Options{All: true}), "everywhere")
}

func fixes(t *testing.T, packages ...string) {
	t.Helper()
	analysistest.RunWithSuggestedFixes(t, analysistest.TestData(), candorvet.Analyzer, packages...)
}

func finds(t *testing.T, packages ...string) {
	t.Helper()
	analysistest.Run(t, analysistest.TestData(), candorvet.Analyzer, packages...)
}

// TestRealSDKsHaveTheShapesOfTheStubs runs over servers that compile against the SDKs in go.mod, so that a stub cannot drift from
// what it stands for.
func TestRealSDKsHaveTheShapesOfTheStubs(t *testing.T) {
	analysistest.Run(t, "..", candorvet.Analyzer, "./candorvet/testdata/real/...")
}

func TestOnlyChosenRulesAreApplied(t *testing.T) {
	only := candorvet.New(candorvet.Options{Rules: []string{candorvet.Swallowed}})
	for _, result := range analysistest.Run(quiet{t}, analysistest.TestData(), only, "raw", "masked", "swallowed") {
		for _, d := range result.Diagnostics {
			if d.Category != candorvet.Swallowed && d.Category != "allow" {
				t.Errorf("%s was not asked for: %s", d.Category, d.Message)
			}
		}
	}
}

// quiet drops the complaints about findings that a test does not ask for.
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
