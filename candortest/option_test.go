package candortest_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/candortest"
)

func TestInvalidOptionsAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		options candortest.Options
		says    string
	}{
		"skip without reason": {candortest.Options{Skip: map[string]string{"batch": " "}}, "a reason is required"},
		"skip of nothing":     {candortest.Options{Skip: map[string]string{"bach": "a reason"}}, "unknown check"},
		"only of nothing":     {candortest.Options{Only: []string{"bach"}}, "unknown check"},
		"arguments":           {candortest.Options{Tools: []candortest.Call{{Tool: "add", Arguments: `[1]`}}}, "not a JSON object"},
		"slow":                {candortest.Options{Slow: candortest.Call{Tool: "add", Arguments: `{`}}, "not a JSON object"},
		"era":                 {candortest.Options{Eras: []string{"1999-01-01"}}, "unknown era"},
		"timeout":             {candortest.Options{Timeout: -1}, "positive"},
		"silence":             {candortest.Options{Silence: -1}, "positive"},
		"oversize":            {candortest.Options{Oversize: 1}, "from 1 KiB"},
	} {
		if _, err := candortest.Check(t.Context(), inProcess(mutant{}), c.options); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSkippedCheckShowsItsReason(t *testing.T) {
	findings, err := candortest.Check(t.Context(), inProcess(mutant{}), candortest.Options{Only: []string{"batch"}, Skip: map[string]string{"batch": "issue 12"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range findings {
		if f.Rule.ID == "batch" && (f.Passed || f.Skipped != "issue 12") {
			t.Errorf("%+v", f)
		}
	}
	if len(findings) != 4 { // the handshake and the check, in two eras
		t.Errorf("%d findings", len(findings))
	}
}

func TestCheckThatLacksSomethingIsSkippedAndNeverPasses(t *testing.T) {
	findings, err := candortest.Check(t.Context(), inProcess(mutant{}), candortest.Options{Only: []string{"failure-is-error", "panic-survived", "cancelled-silent"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range findings {
		if f.Rule.Needs != "" && !strings.Contains(f.Skipped, f.Rule.Needs) {
			t.Errorf("%s: passed %v, skipped %q", f.Rule.ID, f.Passed, f.Skipped)
		}
	}
}

func TestOlderServerIsNotHeldToYoungerRules(t *testing.T) {
	older := inProcess(mutant{say: replace(`"initialize"`, "2025-11-25", "2025-03-26"), hear: answers(`[{"jsonrpc"`, `[{"jsonrpc":"2.0","id":"batched","result":{}}]`)})
	findings, err := candortest.Check(t.Context(), older, with(func(o *candortest.Options) { o.Eras = []string{"2025-11-25"} }))
	if err != nil {
		t.Fatal(err)
	}
	var skipped []string
	for _, f := range findings {
		if f.Problem != "" {
			t.Error(f)
		}
		if f.Skipped != "" {
			skipped = append(skipped, f.Rule.ID)
		}
	}
	if want := []string{"batch", "violation-channel"}; !slices.Equal(skipped, want) {
		t.Errorf("%v were skipped and not %v", skipped, want)
	}
}

// TestRedInside fails on purpose; it runs only inside [TestServerExplainsARedCheck].
func TestRedInside(t *testing.T) {
	if os.Getenv("CANDORTEST_RED") != "" {
		candortest.TestServer(t, inProcess(mutants["unknown-method"]), candortest.Options{Only: []string{"unknown-method", "unknown-tool"}})
	}
}

func TestServerExplainsARedCheck(t *testing.T) {
	cmd := exec.Command(os.Args[0], "-test.run=^TestRedInside$", "-test.v")
	cmd.Env = append(os.Environ(), "CANDORTEST_RED=1")
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Fatal("the test inside passed")
	}
	for _, part := range []string{
		"--- FAIL: TestRedInside/2025-11-25/unknown-method", "--- PASS: TestRedInside/2026-07-28/unknown-tool",
		"the error's code is -32603 and not -32601", "rule:", "why:", "sent:", `"method":"candortest/no_such_method"`, "got:", "fix:",
	} {
		if !strings.Contains(string(out), part) {
			t.Errorf("the report does not hold %q:\n%s", part, out)
		}
	}
}
