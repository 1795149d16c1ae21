package democmd

import (
	_ "embed"
	"encoding/json"
	"fmt"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/cli/decodecmd"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/wire"
)

//go:embed demo.json
var demoJSON []byte

// demoCase is a typical response of a server. All cases are invented.
type demoCase struct {
	Title    string          `json:"title"`
	Exchange json.RawMessage `json:"exchange"`
}

// demoAnswers prints typical responses and how Candor classifies each.
func demoAnswers(env *term.Env, asJSON bool) error {
	var cases []demoCase
	if err := json.Unmarshal(demoJSON, &cases); err != nil {
		return err
	}
	if asJSON {
		return demoLines(env, cases)
	}
	return demoText(env, cases)
}

// demoRead classifies a case as decode would.
func demoRead(c demoCase) (*contract.Exchange, contract.Reading, error) {
	x, err := contract.ParseExchange(c.Exchange)
	if err != nil {
		return nil, contract.Reading{}, err
	}
	x.Ref = decodecmd.RefOf(c.Exchange)
	return x, contract.Read(x), nil
}

func demoText(env *term.Env, cases []demoCase) error {
	p := env.Colors()
	fmt.Fprintf(env.Out, "%s\n%s\n\n", p.Bold("Candor reads what MCP servers send when something fails."),
		"Answers as they are met in the wild, all made up: what the client got, and what Candor reads from it.")
	for i, c := range cases {
		x, r, err := demoRead(c)
		if err != nil {
			return err
		}
		fmt.Fprintf(env.Out, "%s\n", p.Bold(fmt.Sprintf("%d %s", i+1, c.Title)))
		fmt.Fprintf(env.Out, "  %s %s\n", p.Bad("before"), term.Truncate(responseText(&x.Response), demoWidth))
		fmt.Fprintf(env.Out, "  %s  %s %s\n", p.Good("after"), p.Bold(r.Error.Code().Symbol()), p.Faint(demoFacts(r)))
		for _, line := range demoRest(r.Error) {
			fmt.Fprintf(env.Out, "         %s\n", line)
		}
	}
	return demoWires(env, p, cases)
}

// demoWidth is the width at which messages are truncated.
const demoWidth = 100

// responseText returns the part of a response that a client shows: the text of the result, or the error.
func responseText(m *wire.Message) string {
	if e := m.Error(); e.Present() {
		return "error   " + string(e.Raw())
	}
	text, _ := m.Result().Path("content", 0, "text").Str()
	if failed, _ := m.Result().Path("isError").Bool(); failed {
		return "isError " + term.OneLine(text)
	}
	return "success " + term.OneLine(text)
}

func demoFacts(r contract.Reading) string {
	words := string(r.Verdict)
	if r.Certainty == contract.Suspected {
		words += fmt.Sprintf(", suspected %.2f", r.Confidence)
	}
	return fmt.Sprintf("(%s) class %s, retry %s", words, r.Error.Class(), term.RetryWords(r.Error.Retry()))
}

// demoRest returns message, fields and suggestion, one per line.
func demoRest(e *candor.Error) []string {
	lines := []string{e.Message()}
	if issues := e.Details().Issues(); len(issues) > 0 {
		lines = nil
		for _, i := range issues {
			lines = append(lines, "field "+decodecmd.IssueWords(i))
		}
	}
	if e.Suggestion() != "" {
		lines = append(lines, "do: "+e.Suggestion())
	}
	for i := range lines {
		lines[i] = term.OneLine(lines[i])
	}
	return lines
}

// demoWires prints the last failure in every dialect.
func demoWires(env *term.Env, p term.Colors, cases []demoCase) error {
	_, r, err := demoRead(cases[len(cases)-1])
	if err != nil {
		return err
	}
	fmt.Fprintf(env.Out, "\n%s\n", p.Bold("The last one in every dialect; translating there and back loses nothing:"))
	for _, name := range dialect.Names() {
		d, err := dialect.Lookup(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(env.Out, "  %s %s\n", p.Name(term.Pad(name, 12)), term.Truncate(string(d.Encode(nil, r.Error, demoOptions)), demoWidth))
	}
	fmt.Fprintf(env.Out, "\n%s\n", p.Bold("Next:"))
	for _, next := range [][2]string{
		{"candor decode answers.jsonl", "read the answers of your own server, one JSON value per line"},
		{"candor explain " + r.Error.Code().Symbol(), "what a code means, and what to do about it"},
		{"candor translate --to rpc FILE", "rewrite errors in another dialect"},
	} {
		fmt.Fprintf(env.Out, "  %s %s\n", p.Name(term.Pad(next[0], 37)), next[1])
	}
	return nil
}

var demoOptions = dialect.Options{Now: decodecmd.SampleTime}

// demoLines prints the same as JSON: a line per case with the members of decode, then a line per dialect.
func demoLines(env *term.Env, cases []demoCase) error {
	var last *candor.Error
	for i, c := range cases {
		_, r, err := demoRead(c)
		if err != nil {
			return err
		}
		head, err := term.MarshalJSON(c)
		if err != nil {
			return err
		}
		reading := append(decodecmd.AppendReading(nil, r, i+1, ""), "}\n"...)
		fmt.Fprintf(env.Out, "%s,%s", head[:len(head)-1], reading[1:])
		last = r.Error
	}
	for _, name := range dialect.Names() {
		if d, err := dialect.Lookup(name); err == nil {
			fmt.Fprintf(env.Out, `{"dialect":%q,"carrier":%s}`+"\n", name, d.Write(nil, last, demoOptions))
		}
	}
	return nil
}
