package report_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/candor-mcp/candor/cmd/internal/probe/report"
	"github.com/candor-mcp/candor/internal/probe"
)

func TestJUnitHasASuiteForEachToolAndACaseForEachRule(t *testing.T) {
	r := sample(t)
	var root struct {
		Suites []struct {
			Name     string `xml:"name,attr"`
			Tests    int    `xml:"tests,attr"`
			Failures int    `xml:"failures,attr"`
			Cases    []struct {
				Failure []string `xml:"failure"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal([]byte(write(t, report.FormatJUnit, r, report.Options{})), &root); err != nil {
		t.Fatal(err)
	}
	if len(root.Suites) != len(r.Tools)+1 {
		t.Fatalf("%d suites", len(root.Suites))
	}
	failed := map[string]bool{} // a test case may have several findings of a rule
	for _, f := range r.Findings {
		if f.Severity != probe.SeverityInfo {
			failed[f.Rule+" "+f.Tool] = true
		}
	}
	failures := 0
	for _, suite := range root.Suites {
		inSuite := 0
		for _, c := range suite.Cases {
			for _, text := range c.Failure {
				inSuite++
				if !strings.Contains(text, "sent: ") || !strings.Contains(text, "fix: ") {
					t.Errorf("a failure without evidence or fix: %q", text)
				}
			}
		}
		failures += inSuite
		if len(suite.Cases) != len(r.Applied) || suite.Tests != len(suite.Cases) || suite.Failures != inSuite {
			t.Errorf("%s has %d cases and %d failures: %+v", suite.Name, len(suite.Cases), inSuite, suite)
		}
	}
	if failures != len(failed) {
		t.Errorf("%d cases failed, want %d", failures, len(failed))
	}
}

// The schema of the standard, Errata 01, as published by OASIS. It is not in this repository, because it is
// third-party: it is taken from the tests of another tool, at a fixed version.
const (
	sarifModule = "github.com/securego/gosec/v2@v2.30.0"
	sarifFile   = "report/sarif/testdata/sarif-schema-2.1.0.json"
	sarifSum    = "c3b4bb2d6093897483348925aaa73af03b3e3f4bd4ca38cef26dcb4212a2682e"
)

func officialSARIF(t *testing.T) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", sarifModule)
	cmd.Dir = t.TempDir() // outside this module, so that its requirements do not change
	out, err := cmd.Output()
	var module struct{ Dir string }
	if err != nil || json.Unmarshal(out, &module) != nil {
		t.Skipf("the SARIF schema of OASIS could not be fetched with %s: %v %s", sarifModule, err, out)
	}
	data, err := os.ReadFile(filepath.Join(module.Dir, filepath.FromSlash(sarifFile)))
	if err != nil {
		t.Fatal(err)
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != sarifSum {
		t.Fatalf("the schema is another one: %x", sum)
	}
	return data
}

func sarifSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(officialSARIF(t)))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("sarif.json", document); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("sarif.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func TestSARIFConformsToTheSchema(t *testing.T) {
	schema := sarifSchema(t)
	source := report.Source{Path: "src/my server.js", Lines: map[string]int{"search_documents": 7}}
	for name, r := range reports(t) {
		document, err := jsonschema.UnmarshalJSON(strings.NewReader(write(t, report.FormatSARIF, r, report.Options{Source: source})))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(document); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		run := member(member(document, "runs"), 0)
		rules := member(member(member(run, "tool"), "driver"), "rules")
		for _, result := range items(member(run, "results")) {
			index, err := strconv.Atoi(fmt.Sprint(member(result, "ruleIndex")))
			if got := member(member(rules, index), "id"); err != nil || got != member(result, "ruleId") {
				t.Errorf("%s: rule %d is %v, and the result's is %v", name, index, got, member(result, "ruleId"))
			}
		}
	}
	broken := strings.Replace(write(t, report.FormatSARIF, sample(t), report.Options{}), `"level": "error"`, `"level": "fatal"`, 1)
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(broken))
	if err != nil {
		t.Fatal(err)
	}
	if schema.Validate(document) == nil {
		t.Error("the schema takes a level that there is not")
	}
}

func TestFingerprintDependsOnlyOnTheKey(t *testing.T) {
	prints := func(change func(*probe.Finding)) []string {
		r := sample(t)
		for i := range r.Findings {
			change(&r.Findings[i])
		}
		var document any
		if err := json.Unmarshal([]byte(write(t, report.FormatSARIF, r, report.Options{})), &document); err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, result := range items(member(member(member(document, "runs"), 0), "results")) {
			out = append(out, fmt.Sprint(member(member(result, "partialFingerprints"), "candorFindingKey/v1")))
		}
		return out
	}
	before := prints(func(*probe.Finding) {})
	same := prints(func(f *probe.Finding) { f.Message, f.Evidence, f.Count = "otherwise", nil, 99 })
	other := prints(func(f *probe.Finding) { f.Field += "/x" })
	seen := map[string]bool{}
	for i := range before {
		if before[i] != same[i] || before[i] == other[i] || seen[before[i]] {
			t.Errorf("finding %d: %s, %s, %s", i, before[i], same[i], other[i])
		}
		seen[before[i]] = true
	}
}

// member returns the value at a name or an index, nil if there is none.
func member(v any, key any) any {
	switch k := key.(type) {
	case string:
		if o, is := v.(map[string]any); is {
			return o[k]
		}
	case int:
		if list := items(v); k < len(list) {
			return list[k]
		}
	}
	return nil
}

func items(v any) []any {
	list, _ := v.([]any)
	return list
}
