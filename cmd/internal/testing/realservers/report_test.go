package realservers

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/candor-mcp/candor/internal/redact"
)

// Audits holds the results of one run of probe over the servers.
type Audits struct {
	Date    string
	Candor  string // version
	Node    string // version
	Servers []Audit
}

// Broken returns the broken promises, one per line.
func (r Audits) Broken() []string {
	var all []string
	for _, a := range r.Servers {
		if a.Absent != "" {
			all = append(all, a.Name+": not probed: "+a.Absent)
		}
		for _, p := range a.Problems {
			all = append(all, a.Name+": "+p)
		}
	}
	return all
}

// intro describes the run and the columns of the report; ¬ is replaced by a back quote.
const intro = `# Real servers, probed

Published MCP servers, probed with ¬candor probe¬ three times: directly, behind ¬candor wrap¬ with the profile that the first run wrote, and directly
again. Written by ¬make real-all¬; do not edit.

Run of %s with candor %s and Node %s, seed %s, %s for a call. Unless this page says otherwise, no server had a network or could write outside a
temporary folder; in that folder every tool was called (¬--yes¬).

| column | meaning |
|---|---|
| grade, findings | of the server, directly → wrapped; the grades of all tools are compared as well, and none may fall |
| outside | the findings that can be fixed outside the server, by the gateway; a server with such findings and a grade below A must get a better grade. “held” means that all of them were fixed but only the score rises, because the remaining findings can be fixed only in the server |
| rules | the number of rules in the profile |
| successes | true successes; each must arrive through the gateway as the bytes that the server wrote |
| failures | failures behind the gateway; each must carry the envelope with a ref that is in the ledger once, and the server's own words unchanged. An error with data of only a URI stays as it is, because clients recognise it by that form |
| spared | true successes of the server in the corpus, many of them about errors; each must pass a gateway with the profile as the same bytes |
| seconds | directly, wrapped, directly again; each must be below 60 |

A second run with the same seed must have the same findings, each as often. No process may be left behind.

`

// Markdown returns the audits as Markdown.
func (r Audits) Markdown() string {
	var out strings.Builder
	fmt.Fprintf(&out, strings.ReplaceAll(intro, "¬", "`"), r.Date, r.Candor, r.Node, probeSeed, probePerCall)
	r.writeTable(&out)
	out.WriteString("\n## Broken promises\n\n")
	broken := r.Broken()
	for _, b := range broken {
		fmt.Fprintf(&out, "- %s\n", cell(b))
	}
	if len(broken) == 0 {
		out.WriteString("None.\n")
	}
	return out.String()
}

func (r Audits) writeTable(out *strings.Builder) {
	out.WriteString("| server | version | tools | cases | grade | findings | outside | rules | successes | failures | spared | seconds | remaining findings |\n" +
		"|---|---|--:|--:|---|---|---|--:|--:|--:|--:|--:|---|\n")
	for i := range r.Servers {
		a := &r.Servers[i]
		if a.Absent != "" {
			fmt.Fprintf(out, "| %s | %s | not probed: %s |\n", a.Name, a.Version, cell(a.Absent))
			continue
		}
		seal := ""
		if !a.Sealed {
			seal = " (could write anywhere)"
		}
		fmt.Fprintf(out, "| %s%s | %s | %d | %d | %s %d → %s %d%s | %d → %d | %d → %d | %d | %d | %d | %d | %.0f, %.0f, %.0f | %s |\n", a.Name, seal, a.Version, a.Tools, a.Cases,
			a.Before.Grade, a.Before.Score, a.After.Grade, a.After.Score, a.held(), a.Before.Findings, a.After.Findings, a.Before.Outside, a.After.Outside,
			a.Profile, a.Successes, a.Failures, a.Spared, a.Seconds[0], a.Seconds[1], a.Seconds[2], a.After.rules())
	}
}

func (a *Audit) held() string {
	if a.Held {
		return " (held)"
	}
	return ""
}

// rules lists the broken rules.
func (s Standing) rules() string {
	var all []string
	for _, id := range slices.Sorted(maps.Keys(s.Rules)) {
		all = append(all, fmt.Sprintf("%s × %d", id, s.Rules[id]))
	}
	return strings.Join(all, ", ")
}

// String returns the audit in one line, and one for each problem.
func (a *Audit) String() string {
	if a.Absent != "" {
		return fmt.Sprintf("%s %s: not probed: %s", a.Name, a.Version, a.Absent)
	}
	text := fmt.Sprintf("%-50s %d tools, %d cases; %s %d → %s %d%s; findings %d → %d; %d rules; %d failures; %d successes, %d recorded ones; %.0f, %.0f, %.0f s", a.Name+" "+a.Version, a.Tools, a.Cases,
		a.Before.Grade, a.Before.Score, a.After.Grade, a.After.Score, a.held(), a.Before.Findings, a.After.Findings, a.Profile, a.Failures, a.Successes, a.Spared,
		a.Seconds[0], a.Seconds[1], a.Seconds[2])
	for _, p := range a.Problems {
		text += "\n  BROKEN: " + p
	}
	return text
}

// maxShown is the maximum length of a text in the report, in characters.
const maxShown = 110

// shown returns a text that is safe to print on one line.
func shown(text string) string {
	text = strings.Join(strings.Fields(redact.Text(text)), " ")
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

func cell(text string) string { return strings.ReplaceAll(shown(text), "|", `\|`) }
