package rules_test

import (
	"strings"
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/probe/rules"
)

// TestReportSaysWhichClientsHideFailures has failures of which some clients show only a part.
func TestReportSaysWhichClientsHideFailures(t *testing.T) {
	const structured = "vscode codex copilot-cli cursor fast-agent mastra"
	for answer, want := range map[string]string{
		text(true, "no such page: caf\u00e9\n\"é\""):                                                                                             "",
		`"error":{"code":-32603,"message":"the quota is exceeded"}`:                                                                              "",
		`"result":{"content":[{"type":"text","text":"Error"},{"type":"text","text":"the quota is exceeded"}],"isError":true}`:                    "claude-code crewai",
		`"result":{"content":[{"type":"text","text":"the quota is exceeded"}],"structuredContent":{"rows":[]},"isError":true}`:                   structured,
		`"result":{"content":[{"type":"text","text":"the quota is exceeded"}],"structuredContent":{"e":"the quota is exceeded"},"isError":true}`: "",
	} {
		r := report(t, one(missing(good("INVALID", "query is missing", "")), absent(answer)))
		if got := strings.Join(r.HiddenFrom, " "); got != want || strings.Join(r.Tools[0].HiddenFrom, " ") != want || r.Clients != len(contract.Clients()) {
			t.Errorf("%s: hidden from %q, want %q; of its tool %q; of %d clients", answer, got, want, r.Tools[0].HiddenFrom, r.Clients)
		}
	}
	written := candor.New(candor.CodeInvalidArguments, "query is missing", candor.WithRef("r-1"), candor.WithDetails(map[string]any{"issues": []candor.Issue{{Path: "/query", Message: "is required"}}}))
	o := missing("") // the text has the issue in place of the message
	o.Response = string(dialect.Must("candor").Write(nil, written, dialect.Options{ID: []byte("7"), Response: true}))
	if r := report(t, one(o)); r.HiddenFrom != nil {
		t.Errorf("a canonical error is hidden from %q: %s", r.HiddenFrom, o.Response)
	}
	r := report(t, one(absent(`"result":{"content":[],"isError":true}`)))
	if r.Hidden != 1 || len(r.HiddenFrom) != len(contract.Clients())-1 { // one shows the result as JSON
		t.Errorf("an empty failure is hidden from %q", r.HiddenFrom)
	}
	if r, err := rules.Judge(one(call("domain", "valid", "anything", text(false, "fine"))).run(), ""); err != nil || r.Clients != 0 || r.Hidden != 0 || r.HiddenFrom != nil {
		t.Errorf("without failures: %v, %d clients, hidden from %q", err, r.Clients, r.HiddenFrom)
	}
}
