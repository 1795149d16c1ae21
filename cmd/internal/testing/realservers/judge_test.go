package realservers

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/probe"
)

const (
	atTen     = `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"done at 10:00 by a"}]}}`
	later     = `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"done at 10:02 by a"}]}}`
	byAnother = `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"done at 10:02 by b"}]}}`
	spaced    = `{"jsonrpc":"2.0","id":1, "result":{"content":[{"type":"text","text":"done at 10:00 by a"}]}}`
	gone      = `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"gone"}],"isError":true}}`
	noURI     = `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"gone","data":{"uri":"a:b"}}}`
)

// enveloped returns a failure as the gateway sends it: the gateway's block, then the text of the server.
func enveloped(words string, code candor.Code, by candor.Party, options ...candor.Option) string {
	e := candor.New(code, "", append(options, candor.WithOrigin(by, false), candor.WithRef("r1"))...)
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"result":{"_meta":{%q:%s},"content":[{"type":"text","text":"CODE"}%s],"isError":true}}`,
		dialect.MetaKey, e.AppendJSON(nil, candor.JSONOptions{}), words)
}

func TestFailuresAreJudged(t *testing.T) {
	const words = `,{"type":"text","text":"gone"}`
	notFound := enveloped(words, candor.CodeNotFound, candor.PartyTool)
	refusal := enveloped("", candor.CodeInvalidArguments, candor.PartyGateway, candor.WithIssues(candor.Issue{Path: "/path"}))
	for name, c := range map[string]struct {
		written, through string
		recorded         int
		problem          string
	}{
		"a failure with its envelope": {gone, notFound, 1, ""},
		"a failure without one":       {gone, gone, 1, "no envelope"},
		"a failure not recorded":      {gone, notFound, 0, "in the ledger 0 times"},
		"a failure recorded twice":    {gone, notFound, 2, "in the ledger 2 times"},
		"a failure that lost words":   {gone, enveloped("", candor.CodeNotFound, candor.PartyTool), 1, "words were changed"},
		"a shape that clients know":   {noURI, noURI, 0, ""},
		"that shape, changed":         {noURI, strings.Replace(noURI, "gone", "lost", 1), 0, "shape"},
		"refused by the gateway":      {"", refusal, 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			written := map[string]Answer{}
			if c.written != "" {
				written["1"] = answerOf([]byte(c.written))
			}
			var a Audit
			a.holdFailures(&probe.Run{Observations: []probe.Observation{answered(probe.CaseNonexistent, c.through)}}, written, map[string]int{"r1": c.recorded})
			broken(t, &a, c.problem)
			if a.Failures != 1 {
				t.Errorf("%d failures", a.Failures)
			}
		})
	}
}

func TestLeftProcessIsFoundAndEnded(t *testing.T) {
	ground := NewGround(t.TempDir())
	if err := ground.prepare(); err != nil {
		t.Fatal(err)
	}
	if len(ground.processes()) != 0 {
		t.Fatal("a process is found before one was started")
	}
	cmd := exec.CommandContext(t.Context(), "sleep", "600")
	cmd.Env = append(os.Environ(), ground.Marker)
	if err := cmd.Start(); err != nil {
		t.Skip("sleep is not installed:", err)
	}
	left := ground.Leftovers()
	if err := cmd.Wait(); err == nil {
		t.Error("the process ended by itself")
	}
	if len(left) != 1 || !strings.Contains(left[0], "sleep 600") {
		t.Errorf("left behind: %q", left)
	}
	if again := ground.Leftovers(); len(again) != 0 {
		t.Errorf("still there: %q", again)
	}
}

func TestReportShowsNoFolderAndNoSecret(t *testing.T) {
	ground := NewGround(t.TempDir())
	said := "cannot open " + ground.dir + "/x with `token` sk-proj-" + strings.Repeat("aB3dE9", 8) + " | \aend"
	one := Audit{Problems: []string{"no envelope", shown(ground.hide(said))}}
	out := Audits{Servers: []Audit{one}}.Markdown()
	for _, bad := range []string{ground.dir, "aB3dE9aB3dE9", "\a"} {
		if strings.Contains(out, bad) {
			t.Errorf("the report shows %q:\n%s", bad, out)
		}
	}
	if !strings.Contains(out, "GROUND/x") || !strings.Contains(out, "no envelope") {
		t.Errorf("the problem is missing:\n%s", out)
	}
}
