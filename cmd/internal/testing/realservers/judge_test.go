package realservers

import (
	"fmt"
	"strings"
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/wire"
)

const (
	atTen     = `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"done at 10:00 by a"}]}}`
	soonAfter = `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"done at 10:01 by a"}]}}`
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

func TestAnswersAreJudged(t *testing.T) {
	const words = `,{"type":"text","text":"gone"}`
	notFound := enveloped(words, candor.CodeNotFound, candor.PartyTool)
	refusal := enveloped("", candor.CodeInvalidArguments, candor.PartyGateway, candor.WithIssues(candor.Issue{Path: "/path"}))
	forwarded := enveloped(words, candor.CodeInvalidArguments, candor.PartyTool, candor.WithIssues(candor.Issue{Path: "/path"}))
	for name, c := range map[string]struct {
		direct, again, written, through, field string

		want    Verdict
		problem string
	}{
		"the same bytes":              {atTen, atTen, atTen, atTen, "", Identical, ""},
		"the same but for the time":   {atTen, soonAfter, later, later, "", Fitting, ""},
		"another word":                {atTen, soonAfter, later, byAnother, "", Wrong, "others than the server wrote"},
		"other bytes, the same JSON":  {atTen, atTen, atTen, spaced, "", Wrong, "bytes"},
		"a failure with its envelope": {gone, gone, gone, notFound, "", Enveloped, ""},
		"a failure without one":       {gone, gone, gone, gone, "", Wrong, "no envelope"},
		"a failure that lost words":   {gone, gone, gone, enveloped("", candor.CodeNotFound, candor.PartyTool), "", Wrong, "words were changed"},
		"a failure become a success":  {gone, gone, gone, atTen, "", Wrong, "became a success"},
		"a success become a failure":  {atTen, atTen, atTen, notFound, "", Wrong, "became a failure"},
		"a success that was refused":  {atTen, atTen, atTen, enveloped("", candor.CodeCircuitOpen, candor.PartyGateway), "", Wrong, "refused what the server does"},
		"a shape that clients know":   {noURI, noURI, noURI, noURI, "", LeftAlone, ""},
		"that shape, changed":         {noURI, noURI, noURI, strings.Replace(noURI, "gone", "lost", 1), "", Wrong, "shape"},
		"bad arguments, named":        {gone, gone, gone, refusal, "/path", Refused, ""},
		"bad arguments, not named":    {gone, gone, gone, refusal, "/mode", Wrong, "/mode"},
		"bad arguments, accepted":     {atTen, atTen, atTen, atTen, "/path", Identical, ""},
		"bad arguments, done":         {gone, gone, gone, atTen, "/path", Wrong, "became a success"},
		"bad arguments, forwarded":    {gone, gone, gone, forwarded, "/path", Enveloped, ""},
		"bad arguments, words lost":   {gone, gone, gone, strings.Replace(forwarded, "gone", "lost", 1), "/path", Wrong, "words were changed"},
		"bad arguments, by the tool":  {gone, gone, gone, notFound, "/path", Wrong, "NOT_FOUND"},
	} {
		t.Run(name, func(t *testing.T) {
			x := Exchange{Case: Case{Field: c.field}, Direct: answer(c.direct), Again: answer(c.again), Written: answer(c.written), Through: answer(c.through)}
			got, problem := x.Judge()
			if got != c.want || !strings.Contains(problem, c.problem) || (got == Wrong) != (problem != "") {
				t.Errorf("judged %q %q, want %q %q", got, problem, c.want, c.problem)
			}
		})
	}
}

func answer(text string) Answer {
	return Answer{raw: []byte(text), message: wire.Parse([]byte(text), wire.Limits{})}
}

func TestBadArgumentsBreakTheSchemaInTheFieldTheyName(t *testing.T) {
	tools := []tool{
		{"read", []byte(`{"type":"object","properties":{"path":{"type":"string"},"mode":{"type":"string","enum":["r","w"]}},"required":["path","mode"]}`)},
		{"nothing", []byte(`{"type":"object"}`)},
		{"broken", []byte(`{"type":7}`)},
	}
	var got []string
	for _, c := range badArguments(tools, false) {
		got = append(got, c.Name+" "+c.Tool+" "+c.Field)
	}
	want := []string{"no arguments read /path", "wrong type read /path", "no such choice read /mode"}
	if strings.Join(got, ";") != strings.Join(want, ";") {
		t.Errorf("derived %q, want %q", got, want)
	}
	if careful := badArguments(tools, true); len(careful) != 1 || careful[0].Name != "no arguments" {
		t.Errorf("a careful caller makes %+v", careful)
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
	cmd := ground.command([]string{"sleep", "600"}, nil)
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
	said := strings.Replace(gone, "gone", "cannot open "+ground.dir+"/x with `token` sk-proj-"+strings.Repeat("aB3dE9", 8)+" | \\u0007end", 1)
	var a Account
	a.add(Exchange{Case: Case{Name: "call", Tool: "t"}, Direct: answer(said), Again: answer(said), Written: answer(said), Through: answer(said)}, ground.hide)
	var out strings.Builder
	if err := (Report{Servers: []Account{a}}).WriteMarkdown(&out); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{ground.dir, "aB3dE9aB3dE9", "\a", "`token`"} {
		if strings.Contains(out.String(), bad) {
			t.Errorf("the report shows %q:\n%s", bad, out.String())
		}
	}
	if !strings.Contains(out.String(), "GROUND/x") || a.OK() {
		t.Errorf("the failure without envelope is not told:\n%s", out.String())
	}
}
