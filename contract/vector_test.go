package contract_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/contract"
)

// vector is an exchange with its expected result, as in spec/vectors/verdict.
type vector struct {
	Name         string          `json:"name"`
	Dialect      string          `json:"dialect"`
	Request      json.RawMessage `json:"request"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	Response     json.RawMessage `json:"response"`
	Verdict      string          `json:"verdict"`
	Certainty    string          `json:"certainty"`
	Rule         string          `json:"rule"`
	Code         *string         `json:"code"`
	AnyCode      bool            `json:"anyCode"`
	Retry        json.RawMessage `json:"retry"`
	Issues       []string        `json:"issues"`
	Violations   []string        `json:"violations"`
	NoSuggestion string          `json:"noSuggestion"`
}

func vectors(t *testing.T) []vector {
	t.Helper()
	files, err := filepath.Glob("../spec/vectors/verdict/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no vectors: %v", err)
	}
	var all []vector
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var some []vector
		if err := json.Unmarshal(raw, &some); err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		all = append(all, some...)
	}
	return all
}

func (v *vector) exchange(t *testing.T) *contract.Exchange {
	t.Helper()
	line, err := json.Marshal(map[string]any{"request": json.RawMessage(orNull(v.Request)), "response": json.RawMessage(orNull(v.Response)),
		"tool": map[string]any{"inputSchema": json.RawMessage(orNull(v.InputSchema))}})
	if err != nil {
		t.Fatal(err)
	}
	x, err := contract.ParseExchange(line)
	if err != nil {
		t.Fatal(err)
	}
	x.Ref, x.Dialect = "vector", v.Dialect
	return x
}

func TestVerdictVectors(t *testing.T) {
	rules := make(map[string]bool)
	for _, v := range vectors(t) {
		rules[v.Rule] = true
		t.Run(v.Name, func(t *testing.T) {
			got := contract.Read(v.exchange(t))
			if string(got.Verdict) != v.Verdict || string(got.Certainty) != v.Certainty || string(got.Rule) != v.Rule {
				t.Errorf("got %s %s %s, want %s %s %s", got.Verdict, got.Certainty, got.Rule, v.Verdict, v.Certainty, v.Rule)
			}
			v.checkError(t, got)
			v.checkViolations(t, got)
		})
	}
	for _, r := range contract.Rules() {
		if !rules[string(r)] {
			t.Errorf("no vector shows rule %s", r)
		}
	}
}

func (v *vector) checkError(t *testing.T, got contract.Reading) {
	t.Helper()
	if got.Error == nil {
		if v.Code != nil || v.Verdict != "clean" {
			t.Errorf("no error, want one")
		}
		return
	}
	if !v.AnyCode && (v.Code == nil || got.Error.Code().String() != *v.Code) {
		t.Errorf("code %s, want %s; details %s", got.Error.Code(), deref(v.Code), got.Error.Details())
	}
	if retry, err := json.Marshal(got.Error.Retry()); v.Retry != nil && (err != nil || string(retry) != compact(v.Retry)) {
		t.Errorf("retry %s, want %s (code %s)", retry, v.Retry, got.Error.Code())
	}
	var paths []string
	for _, i := range got.Error.Details().Issues() {
		paths = append(paths, i.Path)
	}
	if v.Issues != nil && strings.Join(paths, " ") != strings.Join(v.Issues, " ") {
		t.Errorf("issues %v, want %v", paths, v.Issues)
	}
	if v.NoSuggestion != "" && strings.Contains(strings.ToLower(got.Error.Suggestion()), v.NoSuggestion) {
		t.Errorf("suggestion %q says %q", got.Error.Suggestion(), v.NoSuggestion)
	}
}

func (v *vector) checkViolations(t *testing.T, got contract.Reading) {
	t.Helper()
	var rules []string
	for _, violation := range got.Violations {
		rules = append(rules, violation.Rule)
	}
	if strings.Join(rules, " ") != strings.Join(v.Violations, " ") {
		t.Errorf("violations %v, want %v", rules, v.Violations)
	}
}

func deref(s *string) string {
	if s == nil {
		return "none"
	}
	return *s
}

func compact(raw []byte) string {
	return strings.NewReplacer(" ", "", "\n", "", "\t", "").Replace(string(raw))
}
