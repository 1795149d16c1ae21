package candor_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/candor-mcp/candor"
)

func TestIssuePathsAreNoFiles(t *testing.T) {
	paths := []string{"/tmp/x", "/config/settings.json", "/home/ana/a.txt", "/steps/0/a.b", "/etc/passwd", ""}
	var issues []candor.Issue
	for _, p := range paths {
		issues = append(issues, candor.Issue{Path: p, Message: "see /home/ana/secret/plan.txt"})
	}
	e := candor.New(candor.CodeInvalidArguments, "", candor.WithIssues(issues...))
	again, err := candor.ParseDetails([]byte(e.Details().String()))
	if err != nil || again != e.Details() {
		t.Fatalf("not a fixed point: %v\n%s\n%s", err, e.Details(), again)
	}
	for i, got := range again.Issues() {
		if got.Path != paths[i] {
			t.Errorf("path %q became %q", paths[i], got.Path)
		}
		if got.Message != "see …/plan.txt" {
			t.Errorf("message %q keeps a folder", got.Message)
		}
	}
}

func TestPathsElsewhereInDetailsAreShortened(t *testing.T) {
	for _, d := range []any{
		map[string]any{"path": "/home/ana/a.txt"},
		map[string]any{"issues": "/home/ana/a.txt"},
		map[string]any{"x": map[string]any{"issues": []any{map[string]any{"path": "/home/ana/a.txt"}}}},
	} {
		raw, err := json.Marshal(candor.DetailsOf(d))
		if err != nil {
			t.Fatal(err)
		}
		if got := string(raw); len(got) == 0 || strings.Contains(got, "ana") {
			t.Errorf("%v keeps a folder: %s", d, got)
		}
	}
}
