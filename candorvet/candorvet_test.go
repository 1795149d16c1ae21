package candorvet_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/candor-mcp/candor/candorvet"
	"github.com/candor-mcp/candor/candorvet/check"
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

// TestRealSDKsHaveTheShapesOfTheStubs runs over servers that compile against the SDKs in go.mod, so that the stubs cannot drift from
// the SDKs. It reads the compiler's export data of the SDKs; analysistest would compile them again.
func TestRealSDKsHaveTheShapesOfTheStubs(t *testing.T) {
	for _, dir := range []string{"testdata/real/gosdk", "testdata/real/mcpgo"} {
		report, err := check.Packages(t.Context(), check.Config{Patterns: []string{"./" + dir}})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range report.Findings {
			got = append(got, fmt.Sprintf("%s:%d %s", f.File, f.Line, f.Rule))
		}
		if diff := cmp.Diff(wanted(t, dir+"/server.go"), got); diff != "" {
			t.Errorf("(- wanted, + found)\n%s", diff)
		}
	}
}

var wantComment = regexp.MustCompile("// want `\\^(\\w+):`")

// wanted reads the comments with the expected rule of each line.
func wanted(t *testing.T, name string) []string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for i, line := range strings.Split(string(data), "\n") {
		if m := wantComment.FindStringSubmatch(line); m != nil {
			out = append(out, fmt.Sprintf("%s:%d %s", name, i+1, m[1]))
		}
	}
	return out
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
