package realservers

import (
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/candor-mcp/candor/contract"
)

// Outcome is the part that the reports on one server share.
type Outcome struct {
	Name     string   `json:"server"`
	Version  string   `json:"version"`
	Tools    int      `json:"tools"`
	Problems []string `json:"problems,omitempty"` // besides those of single cases
	Absent   string   `json:"absent,omitempty"`   // why it could not be tested
}

func (o *Outcome) problem(format string, args ...any) {
	o.Problems = append(o.Problems, fmt.Sprintf(format, args...))
}

// Versions are the date of a run and the versions in use.
type Versions struct {
	Date   string `json:"date"`
	Candor string `json:"candor"`
	Node   string `json:"node"`
}

// Account is the result of asking one server.
type Account struct {
	Outcome
	Cases []CaseAccount `json:"cases"`
}

// CaseAccount is one case before and after. The server's texts are truncated and redacted.
type CaseAccount struct {
	Case    string  `json:"case"`
	Tool    string  `json:"tool,omitempty"`
	Field   string  `json:"field,omitempty"`
	Failed  bool    `json:"directFailed"`
	Direct  string  `json:"direct"`
	Code    string  `json:"code,omitempty"`
	Retry   string  `json:"retry,omitempty"`
	Through string  `json:"through"`
	Verdict Verdict `json:"verdict"`
	Problem string  `json:"problem,omitempty"`

	ref string
}

// maxShown is the maximum length of a text in the account, in characters.
const maxShown = 110

func (a *Account) add(x Exchange, hide func(string) string) {
	c := CaseAccount{Case: x.Name, Tool: x.Tool, Field: x.Field, Failed: x.Direct.Failed()}
	c.Verdict, c.Problem = x.Judge()
	c.Direct, c.Through = shown(hide(x.Direct.Text())), shown(hide(x.Through.Text()))
	if e, err := x.Through.Envelope(); err == nil {
		c.Code, c.Retry, c.ref = e.Code().String(), e.Retry().String(), e.Ref()
	}
	a.Cases = append(a.Cases, c)
}

// shown returns a text that is safe to print on one line.
func shown(text string) string {
	text = strings.Join(strings.Fields(contract.Redact(text)), " ")
	text = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, text)
	if letters := []rune(text); len(letters) > maxShown {
		return string(letters[:maxShown-1]) + "…"
	}
	return text
}

// Sum counts the cases with a verdict.
func (a Account) Sum(v Verdict) int {
	n := 0
	for _, c := range a.Cases {
		if c.Verdict == v {
			n++
		}
	}
	return n
}

// OK reports whether the server was asked and has no problems.
func (a Account) OK() bool {
	return a.Absent == "" && len(a.Problems) == 0 && a.Sum(Wrong) == 0 && len(a.Cases) > 0
}

// Report is the result of one run.
type Report struct {
	Versions
	Offline bool      `json:"offline"` // the servers had no network
	Servers []Account `json:"servers"`
}

// intro describes the run and its terms; ¬ is replaced by a back quote.
const intro = `# Real servers, before and after

Published MCP servers, sent the same requests directly and through ¬candor wrap¬. Written by ¬make realservers¬; do not edit.

Run of %s with candor %s and Node %s. Each server %s and ran in a folder made for the purpose, shown as ¬GROUND¬. The requests
were sent directly, then through the gateway with a copy of the server's output, and directly again. Unless this page says otherwise, every failure was recorded in
the ledger once and no process was left behind. Texts of servers are redacted and shortened.

| word | what the gateway did with an answer |
|---|---|
| same bytes | a success that arrived as the server wrote it |
| varies | a success that differs in each call, such as the time, and that arrived as the server wrote it |
| envelope | a failure of the server, to which code, retry advice and ref were added; its own text is kept |
| refused | the call was not sent to the server, because its arguments violate the tool's schema or the tool does not exist |
| alone | a failure that clients recognise by its exact form, so it was not changed |
| ✗ | the server itself reported a failure |

A failure that a server sends as a success is not changed, unless a rule for that tool marks it as a failure.

`

// WriteMarkdown writes the report as Markdown.
func (r Report) WriteMarkdown(w io.Writer) error {
	var out strings.Builder
	network := "had no network"
	if !r.Offline {
		network = "had whatever network the machine has"
	}
	fmt.Fprintf(&out, strings.ReplaceAll(intro, "¬", "`"), r.Date, r.Candor, r.Node, network)
	r.writeSummary(&out)
	for _, a := range r.Servers {
		a.writeMarkdown(&out)
	}
	_, err := io.WriteString(w, out.String())
	return err
}

func (r Report) writeSummary(out *strings.Builder) {
	out.WriteString("| server | version | tools | cases | same bytes | varies | envelope | refused | alone | wrong |\n|---|---|--:|--:|--:|--:|--:|--:|--:|--:|\n")
	var total [7]int
	for _, a := range r.Servers {
		if a.Absent != "" {
			fmt.Fprintf(out, "| %s | %s | not asked: %s |\n", a.Name, a.Version, cell(a.Absent))
			continue
		}
		row := [7]int{len(a.Cases), a.Sum(Identical), a.Sum(Fitting), a.Sum(Enveloped), a.Sum(Refused), a.Sum(LeftAlone), a.Sum(Wrong) + len(a.Problems)}
		fmt.Fprintf(out, "| %s | %s | %d |%s\n", a.Name, a.Version, a.Tools, numbers(row))
		for i := range total {
			total[i] += row[i]
		}
	}
	fmt.Fprintf(out, "| all | | |%s\n", numbers(total))
}

func numbers(row [7]int) string {
	var out strings.Builder
	for _, n := range row {
		fmt.Fprintf(&out, " %d |", n)
	}
	return out.String()
}

func (a Account) writeMarkdown(out *strings.Builder) {
	if a.Absent != "" {
		return
	}
	fmt.Fprintf(out, "\n## %s %s\n\n| asked | directly | through |\n|---|---|---|\n", a.Name, a.Version)
	for _, c := range a.Cases {
		asked := c.Case
		if c.Tool != "" {
			asked += " `" + c.Tool + "`"
		}
		if c.Field != "" {
			asked += " `" + c.Field + "`"
		}
		direct := code(c.Direct)
		if c.Failed {
			direct = "✗ " + direct
		}
		through := string(c.Verdict)
		if c.Code != "" {
			through += ": `" + c.Code + "`, " + c.Retry + ", " + code(c.Through)
		}
		if c.Problem != "" {
			through += ": " + cell(c.Problem)
		}
		fmt.Fprintf(out, "| %s | %s | %s |\n", asked, direct, through)
	}
	for _, p := range a.Problems {
		fmt.Fprintf(out, "\nWRONG: %s\n", cell(p))
	}
}

// Print writes the report as text.
func (a Account) Print(w io.Writer) error {
	var out strings.Builder
	if a.Absent != "" {
		fmt.Fprintf(&out, "\n## %s %s\n\nnot asked: %s\n", a.Name, a.Version, a.Absent)
	}
	a.writeMarkdown(&out)
	_, err := io.WriteString(w, out.String())
	return err
}

// code formats a text of a server as inline code, so that Markdown does not interpret it.
func code(text string) string {
	if text == "" {
		return "(nothing)"
	}
	return "`" + strings.ReplaceAll(cell(text), "`", "'") + "`"
}

func cell(text string) string { return strings.ReplaceAll(shown(text), "|", `\|`) }
