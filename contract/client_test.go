package contract_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/internal/testing/corpus"
	"github.com/candor-mcp/candor/wire"
)

var update = flag.Bool("update", false, "write testdata/shown.txt")

// audiences are all clients, and an unknown one.
var audiences = append(slices.Clone(contract.Clients()), contract.Client{})

// sentTo returns a failing answer as a client gets it, which must be the same after a second pass.
func sentTo(t *testing.T, m *wire.Message, e *candor.Error, to contract.Client) wire.Message {
	t.Helper()
	once, err := contract.Normalise(nil, m, e, to)
	if err != nil {
		t.Fatal(err)
	}
	sent := wire.Parse(once, wire.Limits{AllowLoneSurrogates: true})
	if twice, err := contract.Normalise(nil, &sent, e, to); err != nil || !bytes.Equal(once, twice) {
		t.Errorf("%s: not idempotent: %v\n%s\n%s", to.Name, err, once, twice)
	}
	return sent
}

// shows reports whether a client shows its model the code and the ref of an error, and where the block ends.
func shows(text string, e *candor.Error) bool {
	return strings.Contains(text, e.Code().Symbol()) && strings.Contains(text, e.Ref())
}

// TestShownToEveryClient compares what every client shows of answers in the forms of real servers with testdata/shown.txt.
func TestShownToEveryClient(t *testing.T) {
	lines, err := os.ReadFile(filepath.Join("testdata", "answers.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for line := range bytes.Lines(lines) {
		x, err := contract.ParseExchange(line)
		if err != nil {
			t.Fatal(err)
		}
		var record struct{ Name string }
		if err := json.Unmarshal(line, &record); err != nil {
			t.Fatal(err)
		}
		tool, _ := x.Request.Params().Path("name").Str()
		x.Ref = "r-1"
		e := contract.Read(x).Error.With(candor.WithTool(tool))
		byText := map[string][]string{}
		var texts []string
		for _, to := range audiences {
			sent := sentTo(t, &x.Response, e, to)
			text := to.Shown(&sent)
			if !shows(text, e) {
				t.Errorf("%s: %s does not see the error: %s", record.Name, to.Name, text)
			}
			if byText[text] == nil {
				texts = append(texts, text)
			}
			byText[text] = append(byText[text], to.Name)
		}
		for _, text := range texts {
			fmt.Fprintf(&got, "== %s: %s\n%s\n", record.Name, strings.Join(byText[text], ", "), strings.TrimSuffix(text, "\n"))
		}
	}
	golden := filepath.Join("testdata", "shown.txt")
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("-want +got (-update writes it):\n%s", diff)
	}
}

// TestEveryClientSeesRecordedFailures checks that no recorded failure of a tool is hidden from any client.
func TestEveryClientSeesRecordedFailures(t *testing.T) {
	records := load(t, corpus.Failures)
	var kinds []contract.Client
	for _, to := range audiences {
		if !slices.ContainsFunc(kinds, func(k contract.Client) bool {
			return k.Result == to.Result && k.Separator == to.Separator && k.Meta == to.Meta && k.Error == to.Error
		}) {
			kinds = append(kinds, to)
		}
	}
	seen := 0
	for i := range records {
		r := &records[i]
		x := exchangeOf(t, r)
		if !r.Flagged() || x.Request == nil || !x.Request.MethodIs("tools/call") || r.Tool == "" {
			continue
		}
		e := contract.Read(x).Error.With(candor.WithTool(r.Tool))
		for _, to := range kinds {
			sent := sentTo(t, &x.Response, e, to)
			text := to.Shown(&sent)
			if !shows(text, e) || to.Result == "text" && !strings.Contains(text, "\nRef: test\n") {
				t.Errorf("%s %s %s: %s sees %s", r.Server, r.Tool, r.Case, to.Name, text)
			}
			seen++
		}
	}
	t.Logf("%d answers seen by %d kinds of clients", seen/len(kinds), len(kinds))
}

// TestClientTable checks the form of the rows, and that a name belongs to one of them.
func TestClientTable(t *testing.T) {
	names := map[string]bool{}
	for _, c := range contract.Clients() {
		if c.Title == "" || c.Source == "" || len(c.Date) != len("2026-11") || c.Meta != (c.Result == "json") ||
			!slices.Contains([]string{"first", "text", "structured", "both", "json"}, c.Result) || !slices.Contains([]string{"message", "data"}, c.Error) {
			t.Errorf("malformed row %+v", c)
		}
		for _, name := range append([]string{c.Name}, c.ClientInfo...) {
			if found := contract.ClientOf(strings.Replace(name, "*", "-x", 1)); found.Name != c.Name || names[name] && name != c.Name {
				t.Errorf("%q is %q, want %q", name, found.Name, c.Name)
			}
			names[name] = true
		}
	}
	if c := contract.ClientOf("no such client"); c.Name != "" {
		t.Errorf("an unknown client is %q", c.Name)
	}
}

// TestStructuredContentMovesWhereItWouldHideTheError also checks that secrets and size are bounded there.
func TestStructuredContentMovesWhereItWouldHideTheError(t *testing.T) {
	const answer = `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"boom"}],"structuredContent":{"token":"sk-proj-abcdefghijklmnopqrstuvwx0123456789ABCDEF","rows":[%s]},"isError":true}}`
	e := candor.New(candor.CodeInternalError, "boom", candor.WithRef("r-1"), candor.WithTool("t"), candor.WithIssues(candor.Issue{Path: "/a", Message: "is odd"}))
	for rows, cut := range map[string]bool{"1,2": false, strings.Repeat("123456789,", 2_000) + "1": true} {
		m := wire.Parse(fmt.Appendf(nil, answer, rows), wire.Limits{})
		for _, name := range []string{"codex", "claude-code", ""} {
			sent := sentTo(t, &m, e, contract.ClientOf(name))
			moved := sent.Result().Path("_meta", "dev.candor/error", "details", "structuredContent")
			if sent.Result().Path("structuredContent").Present() || strings.Contains(string(sent.Bytes()), "sk-proj-abc") ||
				!strings.HasPrefix(string(moved.Path("rows").Raw()), "[1") || strings.Contains(string(moved.Raw()), "…") != cut || len(sent.Bytes()) > 10_000 {
				t.Errorf("%s: %.1000s", name, sent.Bytes())
			}
			if !sent.Result().Path("_meta", "dev.candor/error", "details", "issues").Present() {
				t.Errorf("%s: the issues were cut", name)
			}
		}
		for _, name := range []string{"crewai", "zed"} {
			if sent := sentTo(t, &m, e, contract.ClientOf(name)); string(sent.Result().Path("structuredContent").Raw()) != string(m.Result().Path("structuredContent").Raw()) {
				t.Errorf("%s: structuredContent changed: %.1000s", name, sent.Bytes())
			}
		}
	}
}
