package cases_test

import (
	"compress/gzip"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/probe/cases"
	"github.com/candor-mcp/candor/internal/probe"
	"github.com/candor-mcp/candor/internal/schema"
	"github.com/candor-mcp/candor/internal/testing/sweep"
)

func tool(name, inputSchema string, readOnly bool) probe.Tool {
	return probe.Tool{Name: name, InputSchema: json.RawMessage(inputSchema), Annotations: probe.Annotations{ReadOnly: &readOnly}}
}

const searchSchema = `{"type":"object","properties":{"query":{"type":"string","minLength":1,"maxLength":20},"num":{"type":"number","maximum":10},
"order":{"enum":["asc","desc"]},"path":{"type":"string"}},"required":["query","path"]}`

func named(all []probe.Case, name string) *probe.Case {
	i := slices.IndexFunc(all, func(c probe.Case) bool { return c.Name == name && c.Again == 0 })
	if i < 0 {
		return nil
	}
	return &all[i]
}

func arguments(c *probe.Case) string {
	var p struct {
		Arguments json.RawMessage `json:"arguments"`
	}
	_ = json.Unmarshal(c.Params, &p)
	return string(p.Arguments)
}

func TestPlanHasEveryKindOfWrongArguments(t *testing.T) {
	t.Parallel()
	all, _ := cases.Plan([]probe.Tool{tool("search", searchSchema, true)}, cases.Options{NoProtocol: true})
	for name, want := range map[string]string{
		probe.CaseMissingRequired: `{}`,
		probe.CaseMissingOne:      `{"query":"SELECT * FROM no_suc"}`,
		probe.CaseWrongType:       `{"path":"/nonexistent/zz/missing.txt","query":{"zz":[1]}}`,
		probe.CaseBadEnum:         `{"query":"SELECT * FROM no_suc","path":"/nonexistent/zz/missing.txt","order":"zz-not-in-enum"}`,
		probe.CaseOutOfRange:      `{"query":"SELECT * FROM no_suc","path":"/nonexistent/zz/missing.txt","num":1010}`,
		probe.CaseEmptyText:       `{"path":"/nonexistent/zz/missing.txt","query":""}`,
		probe.CaseTooLong:         `{"path":"/nonexistent/zz/missing.txt","query":"` + strings.Repeat("z", 21) + `"}`,
		probe.CaseArgsArray:       `[]`,
		probe.CaseArgsString:      `"zz"`,
		probe.CaseArgsNull:        `null`,
		probe.CaseArgsAbsent:      ``,
		probe.CaseNonexistent:     `{"query":"SELECT * FROM no_suc","path":"/nonexistent/zz/missing.txt"}`,
	} {
		c := named(all, name)
		if c == nil {
			t.Errorf("%s is not planned", name)
			continue
		}
		if got := arguments(c); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		if refusal := c.Expect == probe.ExpectRefusal; refusal != (name != probe.CaseNonexistent) {
			t.Errorf("%s is expected to be %s", name, c.Expect)
		}
	}
}

// TestWritingToolsGetOnlyRefusedArguments checks the promise that makes probe safe to run.
func TestWritingToolsGetOnlyRefusedArguments(t *testing.T) {
	t.Parallel()
	tools := []probe.Tool{tool("write_note", searchSchema, false), tool("free", `{"type":"object"}`, false), {Name: "none"}}
	all, skipped := cases.Plan(tools, cases.Options{NoProtocol: true, Faults: []string{"429"}})
	compiled, err := schema.Compile(json.RawMessage(searchSchema))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		if c.Expect != probe.ExpectRefusal {
			t.Errorf("%s may be carried out", c.Key())
		}
		args := arguments(&c)
		if args == "" {
			args = "{}"
		}
		if c.Tool == "write_note" && args[0] == '{' && compiled.Accepts(json.RawMessage(args)) {
			t.Errorf("%s is accepted: %s", c.Key(), args)
		}
		if c.Tool != "write_note" && args[0] == '{' {
			t.Errorf("%s: a tool without a schema is asked %s", c.Key(), args)
		}
	}
	if len(skipped) != 3 {
		t.Errorf("skipped %v", skipped)
	}
	for _, o := range []cases.Options{{Yes: true}, {Allow: []string{"write_note"}}} {
		all, _ := cases.Plan(tools[:1], o)
		if named(all, probe.CaseNonexistent) == nil {
			t.Errorf("%+v does not widen it", o)
		}
	}
}

func TestToolsThatExecuteAreLeftOut(t *testing.T) {
	t.Parallel()
	for name, smells := range map[string]bool{
		"run_query": true, "executeCommand": true, "shell": true, "eval-js": true, "bash": true, "killProcess": true,
		"HTTPExec": true, "browser_evaluate": true, "invokeLambda": true,
		"list_runs": false, "search": false, "getEvaluation": false, "read_description": false, "brunch": false,
	} {
		all, _ := cases.Plan([]probe.Tool{tool(name, searchSchema, true)}, cases.Options{NoProtocol: true})
		if (len(all) == 0) != smells {
			t.Errorf("%s: %d cases", name, len(all))
		}
		if all, _ := cases.Plan([]probe.Tool{tool(name, searchSchema, true)}, cases.Options{NoProtocol: true, Allow: []string{name}}); len(all) == 0 {
			t.Errorf("%s is not allowed by --allow", name)
		}
	}
}

// TestSeedSelectsTheOrderOfTools checks that every seed gives the same cases, in a different order.
func TestSeedSelectsTheOrderOfTools(t *testing.T) {
	t.Parallel()
	var tools []probe.Tool
	for _, name := range strings.Fields("a b c d e f g h") {
		tools = append(tools, tool(name, searchSchema, true))
	}
	keys := func(seed uint64) (out []string) {
		all, _ := cases.Plan(tools, cases.Options{Seed: seed})
		for i := range all {
			out = append(out, all[i].Key())
		}
		return out
	}
	listed, other := keys(1), keys(7)
	if !slices.Equal(listed, keys(0)) || !slices.Equal(other, keys(7)) {
		t.Error("a seed does not repeat")
	}
	if slices.Equal(listed, other) || !slices.Equal(slices.Sorted(slices.Values(listed)), slices.Sorted(slices.Values(other))) {
		t.Error("another seed is no other order of the same cases")
	}
}

func TestMaxCallsCutsAllTools(t *testing.T) {
	t.Parallel()
	var tools []probe.Tool
	for i := range 50 {
		tools = append(tools, tool("t"+string(rune('a'+i%26))+string(rune('a'+i/26)), searchSchema, true))
	}
	all, skipped := cases.Plan(tools, cases.Options{MaxCalls: 200})
	perTool := map[string]int{}
	for _, c := range all {
		perTool[c.Tool]++
	}
	if len(all) != 200 || len(perTool) != 51 || len(skipped) == 0 {
		t.Errorf("%d cases of %d tools, skipped %v", len(all), len(perTool), skipped)
	}
	if all, _ := cases.Plan(tools, cases.Options{MaxCalls: 40}); len(all) != 40 || !slices.ContainsFunc(all, func(c probe.Case) bool { return c.Tool != "" }) {
		t.Errorf("with fewer calls than tools, %d cases are left: %v", len(all), all)
	}
}

// TestPlanMatchesTheCorpus compares the cases with those that real servers were recorded with: every fourth server, or all with -all.
func TestPlanMatchesTheCorpus(t *testing.T) {
	t.Parallel()
	const corpus = "../../../../../shared/corpus"
	tools := map[string][]probe.Tool{}
	read(t, filepath.Join(corpus, "tools.jsonl.gz"), func(line json.RawMessage) {
		var s struct {
			Server string       `json:"server"`
			Tools  []probe.Tool `json:"tools"`
		}
		if json.Unmarshal(line, &s) == nil {
			tools[s.Server] = s.Tools
		}
	})
	for i, server := range slices.Sorted(maps.Keys(tools)) {
		if i%sweep.Step(4, 8) != 0 {
			delete(tools, server)
		}
	}
	planned := map[string]map[string]*probe.Case{}
	same, common, recorded := 0, 0, 0
	read(t, filepath.Join(corpus, "real-servers.jsonl.gz"), func(line json.RawMessage) {
		var r struct {
			Server, Tool, Case, Group string
			Request                   struct {
				Params struct{ Arguments json.RawMessage }
			}
		}
		if json.Unmarshal(line, &r) != nil || r.Tool == "" || r.Group == "upstream" || tools[r.Server] == nil {
			return
		}
		recorded++
		if planned[r.Server] == nil {
			planned[r.Server] = map[string]*probe.Case{}
			all, _ := cases.Plan(tools[r.Server], cases.Options{Yes: true, MaxCalls: 1 << 20})
			for i := range all {
				if all[i].Again == 0 {
					planned[r.Server][all[i].Tool+"/"+all[i].Name] = &all[i]
				}
			}
		}
		c := planned[r.Server][r.Tool+"/"+r.Case]
		if c == nil {
			return
		}
		common++
		if equal(arguments(c), string(r.Request.Params.Arguments)) {
			same++
		}
	})
	t.Logf("%d recorded calls of tools, %d have a case of ours, %d the same arguments", recorded, common, same)
	if common*10 < recorded*9 {
		t.Errorf("only %d of %d recorded calls have a case", common, recorded)
	}
}

func equal(a, b string) bool {
	var x, y any
	_ = json.Unmarshal([]byte(a), &x)
	_ = json.Unmarshal([]byte(b), &y)
	return reflect.DeepEqual(x, y)
}

func read(t *testing.T, name string, each func(json.RawMessage)) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Skipf("the corpus of recorded servers is not here: %v", err)
	}
	defer f.Close() //nolint:errcheck // it was only read
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for d := json.NewDecoder(z); d.More(); {
		var line json.RawMessage
		if err := d.Decode(&line); err != nil {
			t.Fatal(err)
		}
		each(line)
	}
}

// TestPlanHasOneCancelledCall checks that the call is of a tool described as slow, or else of the first tool that may
// be called.
func TestPlanHasOneCancelledCall(t *testing.T) {
	t.Parallel()
	off := func(tools ...probe.Tool) (names []string) {
		all, _ := cases.Plan(tools, cases.Options{})
		for _, c := range all {
			if c.Name == probe.CaseCancel && c.Tool != "" {
				names = append(names, c.Tool)
			}
		}
		return names
	}
	write, search, simulate := tool("write", searchSchema, false), tool("search", searchSchema, true), tool("simulate", searchSchema, true)
	if got := off(write); got != nil {
		t.Errorf("%v is called off, and may not be called", got)
	}
	if got := off(write, search, simulate); !slices.Equal(got, []string{"search"}) {
		t.Errorf("%v is called off", got)
	}
	simulate.Description = "Starts a long-running operation."
	if got := off(write, search, simulate); !slices.Equal(got, []string{"simulate"}) {
		t.Errorf("%v is called off", got)
	}
}

// TestOnlyMadeUpValuesMustFail has a tool with an enum as its argument, so that no value in the call is made up.
func TestOnlyMadeUpValuesMustFail(t *testing.T) {
	t.Parallel()
	for schema, want := range map[string]probe.Expect{
		`{"type":"object","properties":{"level":{"type":"string","enum":["error","debug"]}},"required":["level"]}`:                         probe.ExpectAnswer,
		`{"type":"object","properties":{"a":{"type":"number"}},"required":["a"]}`:                                                          probe.ExpectAnswer,
		`{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`:                                                    probe.ExpectFailure,
		`{"type":"object","properties":{"userId":{"type":"integer"}},"required":["userId"]}`:                                               probe.ExpectFailure,
		`{"type":"object","properties":{"key":{"type":"string","format":"uuid"}},"required":["key"]}`:                                      probe.ExpectFailure,
		`{"type":"object","properties":{"file":{"type":"string"},"level":{"type":"string","enum":["error"]}},"required":["file","level"]}`: probe.ExpectFailure,
	} {
		planned, _ := cases.Plan([]probe.Tool{{Name: "get", InputSchema: json.RawMessage(schema)}}, cases.Options{Yes: true, NoProtocol: true})
		found := false
		for i := range planned {
			if c := &planned[i]; c.Name == probe.CaseNonexistent {
				found = true
				if c.Expect != want {
					t.Errorf("%s: %s is expected, want %s", schema, c.Expect, want)
				}
			}
		}
		if !found {
			t.Errorf("%s: not planned", schema)
		}
	}
}

// TestAllowedToolGetsOneValidCall checks for plausible arguments, for read-only tools and for one that may write.
func TestAllowedToolGetsOneValidCall(t *testing.T) {
	t.Parallel()
	const schema = `{"type":"object","properties":{"name":{"type":"string","examples":["alpha"]},"sourceUrl":{"type":"string"},"startDate":{"type":"string"},
		"kind":{"type":"string","enum":["error","page"]},"user":{"type":"object","properties":{"email":{"type":"string"},"id":{"type":"integer"}},"required":["email","id"]},
		"count":{"type":"integer","minimum":3},"note":{"type":"string"}},"required":["name","sourceUrl","startDate","kind","user","count"]}`
	all, _ := cases.Plan([]probe.Tool{tool("get", schema, true)}, cases.Options{NoProtocol: true})
	c := named(all, probe.CaseValid)
	if c == nil {
		t.Fatal("no such call is planned")
	}
	const want = `{"name":"alpha","sourceUrl":"https://example.com/","startDate":"2024-01-01","kind":"page","user":{"email":"user@example.com","id":1},"count":3}`
	if arguments(c) != want || c.Expect != probe.ExpectAnswer || c.Group != probe.GroupDomain {
		t.Errorf("planned %s, %s, want %s", arguments(c), c.Expect, want)
	}
	if all, _ := cases.Plan([]probe.Tool{tool("file_issue", schema, false)}, cases.Options{NoProtocol: true}); named(all, probe.CaseValid) != nil {
		t.Error("a tool that may write is called for real")
	}
	// If the other valid call has plausible arguments already, one is enough.
	if all, _ := cases.Plan([]probe.Tool{tool("add", `{"type":"object","properties":{"a":{"type":"number"}},"required":["a"]}`, true)}, cases.Options{NoProtocol: true}); named(all, probe.CaseValid) != nil {
		t.Error("the same call is planned twice")
	}
}
