package schema_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/schema"
)

// A program that knows nothing but the issues of a bad call can repair it in one round, whether the call was refused or was forwarded
// by lenient validation and failed at the server: the issues are the same.
func TestBadCallsAreRepairedFromTheirIssues(t *testing.T) {
	t.Parallel()
	var bad, refused, repaired, fromTemplate int
	for _, tool := range recordedTools(t) {
		s, err := schema.Compile(tool.Input)
		if err != nil || s.Useless() {
			continue
		}
		var good map[string]any
		if !decode(s.Explain([]byte(`"no object"`)).Template.String(), &good) {
			continue
		}
		for _, wrong := range spoilt(good, tool.Input) {
			call, _ := json.Marshal(wrong)
			report := s.Explain(call)
			if report.OK() {
				continue
			}
			bad++
			if report.Fatal {
				refused++
			}
			switch fixed, _ := json.Marshal(repair(wrong, report)); {
			case s.Accepts(fixed) || s.Explain(fixed).OK():
				repaired++
			case s.Explain([]byte(report.Template.String())).OK():
				fromTemplate++
			default:
				t.Logf("%s %s: %s, not repaired from %+v", tool.Server, tool.Name, call, report.Issues)
			}
		}
	}
	t.Logf("%d bad calls, %d refused by lenient validation and %d forwarded: %d repaired by their issues, %d more by the template", bad, refused, bad-refused, repaired, fromTemplate)
	if bad < 5000 || (repaired+fromTemplate)*1000 < bad*990 || repaired*100 < bad*90 {
		t.Error("too few calls, or too few that can be repaired")
	}
}

func decode(text string, v any) bool {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	return d.Decode(v) == nil
}

// spoilt returns calls with one mistake each: a key that is missing, misspelt or of another type, an unknown key, and null for all.
func spoilt(good map[string]any, input []byte) (calls []map[string]any) {
	var known struct{ Properties map[string]json.RawMessage }
	_ = json.Unmarshal(input, &known)
	with := func(key string, value any) map[string]any {
		changed := maps.Clone(good)
		changed[key] = value
		return changed
	}
	without := func(key string) map[string]any {
		changed := maps.Clone(good)
		delete(changed, key)
		return changed
	}
	for _, key := range slices.Sorted(maps.Keys(good)) {
		misspelt := without(key)
		misspelt[key[:len(key)/2]+key[min(len(key)/2+1, len(key)):]+"x"] = good[key]
		calls = append(calls, without(key), misspelt, with(key, nil), with(key, []any{map[string]any{"zz": 1}}), with(key, "zz-other"))
	}
	for _, key := range slices.Sorted(maps.Keys(known.Properties)) {
		calls = append(calls, with(key, map[string]any{"zz": json.Number("1e30")}))
	}
	return append(calls, with("zz_unknown", true))
}

var nearKey = regexp.MustCompile(`^did you mean "([^"]*)"|^"([^"]*)" is not a known key, did you mean`)

// repair changes a call as its issues say: it renames a key to the near one, removes a key that is unknown or optional, and puts the
// example, or the part of the template at the path, where a value is missing or wrong.
func repair(call map[string]any, report schema.Report) any {
	raw, _ := json.Marshal(call)
	var fixed, template any
	decode(string(raw), &fixed)
	decode(report.Template.String(), &template)
	for _, issue := range report.Issues {
		parent, key := parentOf(fixed, issue.Path)
		if parent == nil {
			continue
		}
		near := nearKey.FindStringSubmatch(issue.Hint)
		switch {
		case issue.Rule == schema.RuleUnknownKey && near != nil && near[1] != "":
			parent[near[1]] = parent[key]
			delete(parent, key)
		case issue.Rule == schema.RuleUnknownKey, strings.HasPrefix(issue.Hint, "leave the key out"):
			delete(parent, key)
		case near != nil && near[2] != "":
			parent[key] = parent[near[2]]
			delete(parent, near[2])
		default:
			replace(parent, key, issue, template)
		}
	}
	return fixed
}

// replace sets a value to the example of its issue or to the part of the template at its path. An optional one without either is removed.
func replace(parent map[string]any, key string, issue candor.Issue, template any) {
	var value any
	example, _ := json.Marshal(issue.Example)
	if issue.Example != nil && decode(string(example), &value) {
		parent[key] = value
	} else if in, _ := parentOf(template, issue.Path); in != nil && in[key] != nil {
		parent[key] = in[key]
	} else {
		delete(parent, key)
	}
}

// parentOf returns the object that holds the value at a JSON Pointer, and its key there. It returns nil if an array holds it.
func parentOf(v any, path string) (map[string]any, string) {
	steps := strings.Split(strings.TrimPrefix(path, "/"), "/")
	for _, step := range steps[:len(steps)-1] {
		object, ok := v.(map[string]any)
		if !ok {
			return nil, ""
		}
		v = object[unescape(step)]
	}
	object, _ := v.(map[string]any)
	return object, unescape(steps[len(steps)-1])
}

func unescape(step string) string {
	return string(bytes.ReplaceAll(bytes.ReplaceAll([]byte(step), []byte("~1"), []byte("/")), []byte("~0"), []byte("~")))
}
