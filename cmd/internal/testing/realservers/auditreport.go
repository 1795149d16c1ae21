package realservers

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// leastAgreement is the percentage of common calls whose label must agree with the corpus.
const leastAgreement = 97

// Audits holds the results of one run of probe over the servers.
type Audits struct {
	Versions
	Servers []Audit `json:"servers"`
}

// Agreement returns the agreement of all servers together; ok is false if nothing was compared.
func (r Audits) Agreement() (sum Agreement, ok bool) {
	for _, a := range r.Servers {
		sum.add(a.Agreement)
		ok = ok || a.Compared
	}
	return sum, ok
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
	if sum, ok := r.Agreement(); ok && sum.Percent() < leastAgreement {
		all = append(all, fmt.Sprintf("%d of %d labels agree with the corpus: %.1f %%, and %d %% are promised", sum.Agreed, sum.Common, sum.Percent(), leastAgreement))
	}
	return all
}

// probeIntro describes the run and the columns of the report; ¬ is replaced by a back quote.
const probeIntro = `# Real servers, probed

Published MCP servers, probed with ¬candor probe¬ three times: directly, behind ¬candor wrap¬ with the profile that the first run wrote, and directly
again. Written by ¬make probeservers¬; do not edit.

Run of %s with candor %s and Node %s, seed %s, %s for a call. Unless this page says otherwise, no server had a network or could write outside a
temporary folder; in that folder every tool was called (¬--yes¬).

| column | meaning |
|---|---|
| grade, findings | of the server, directly → wrapped; the grades of all tools are compared as well, and none may fall |
| outside | the findings that can be fixed outside the server, by the gateway; a server with such findings and a grade below A must get a better grade. “held” means that all of them were fixed but only the score rises, because the remaining findings can be fixed only in the server |
| rules | the number of rules in the profile |
| successes | true successes; each must arrive through the gateway as the bytes that the server wrote |
| spared | true successes of the server in the corpus, many of them about errors; each must pass a gateway with the profile as the same bytes |
| agreed | calls with the same label as in the corpus of recorded servers, of all calls in common. A call is in common if tool, case, method and params are the same, and it is about arguments, things that do not exist or the protocol |
| aside | calls in common that are not counted, because they are mislabelled or cannot be compared: [the list](../cmd/internal/testing/realservers/testdata/aside.json) says why |
| seconds | directly, wrapped, directly again; each must be below 60 |

A second run with the same seed must have the same findings, each as often. No process may be left behind.

`

// WriteMarkdown writes the audits as Markdown.
func (r Audits) WriteMarkdown(w io.Writer) error {
	var out strings.Builder
	fmt.Fprintf(&out, strings.ReplaceAll(probeIntro, "¬", "`"), r.Date, r.Candor, r.Node, probeSeed, probePerCall)
	r.writeTable(&out)
	r.writeMisses(&out)
	out.WriteString("\n## Broken promises\n\n")
	broken := r.Broken()
	for _, b := range broken {
		fmt.Fprintf(&out, "- %s\n", cell(b))
	}
	if len(broken) == 0 {
		out.WriteString("None.\n")
	}
	_, err := io.WriteString(w, out.String())
	return err
}

func (r Audits) writeTable(out *strings.Builder) {
	out.WriteString("| server | version | tools | cases | grade | findings | outside | rules | successes | spared | agreed | aside | seconds | remaining findings |\n" +
		"|---|---|--:|--:|---|---|---|--:|--:|--:|--:|--:|--:|---|\n")
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
		fmt.Fprintf(out, "| %s%s | %s | %d | %d | %s %d → %s %d%s | %d → %d | %d → %d | %d | %d | %d | %s | %d | %.0f, %.0f, %.0f | %s |\n", a.Name, seal, a.Version, a.Tools, a.Cases,
			a.Before.Grade, a.Before.Score, a.After.Grade, a.After.Score, a.held(), a.Before.Findings, a.After.Findings, a.Before.Outside, a.After.Outside,
			a.Profile, a.Successes, a.Spared, a.agreed(), a.Agreement.Aside, a.Seconds[0], a.Seconds[1], a.Seconds[2], a.After.rules())
	}
	if sum, ok := r.Agreement(); ok {
		fmt.Fprintf(out, "\nOf %d calls in common %d have the same label: %.2f %%. %d are aside.\n", sum.Common, sum.Agreed, sum.Percent(), sum.Aside)
	} else {
		out.WriteString("\nThere were no recordings in ../shared/corpus to compare the labels with.\n")
	}
}

func (a *Audit) held() string {
	if a.Held {
		return " (held)"
	}
	return ""
}

func (a *Audit) agreed() string {
	if !a.Compared {
		return "not compared"
	}
	return fmt.Sprintf("%d of %d", a.Agreement.Agreed, a.Agreement.Common)
}

// rules lists the broken rules.
func (s Standing) rules() string {
	var all []string
	for _, id := range slices.Sorted(maps.Keys(s.Rules)) {
		all = append(all, fmt.Sprintf("%s × %d", id, s.Rules[id]))
	}
	return strings.Join(all, ", ")
}

func (r Audits) writeMisses(out *strings.Builder) {
	head := "\n## Calls with another label\n\n| server | call | recorded as | now | answer |\n|---|---|---|---|---|\n"
	for _, a := range r.Servers {
		for _, m := range a.Agreement.Misses {
			fmt.Fprintf(out, "%s| %s | %s `%s` | %s | %s | %s |\n", head, a.Name, m.Case, m.Tool, m.Recorded, m.Now, code(m.Response))
			head = ""
		}
	}
}

// Print writes the audit as text.
func (a *Audit) Print(w io.Writer) error {
	var out strings.Builder
	if a.Absent != "" {
		fmt.Fprintf(&out, "%s %s: not probed: %s\n", a.Name, a.Version, a.Absent)
	} else {
		fmt.Fprintf(&out, "%-50s %d tools, %d cases; %s %d → %s %d%s; findings %d → %d; %d rules; %d successes, %d recorded ones; labels %s; %.0f, %.0f, %.0f s\n", a.Name+" "+a.Version, a.Tools, a.Cases,
			a.Before.Grade, a.Before.Score, a.After.Grade, a.After.Score, a.held(), a.Before.Findings, a.After.Findings, a.Profile, a.Successes, a.Spared, a.agreed(),
			a.Seconds[0], a.Seconds[1], a.Seconds[2])
	}
	for _, m := range a.Agreement.Misses {
		fmt.Fprintf(&out, "  label: %s %s was %s and is %s: %s\n", m.Case, m.Tool, m.Recorded, m.Now, m.Response)
	}
	for _, p := range a.Problems {
		fmt.Fprintf(&out, "  BROKEN: %s\n", p)
	}
	_, err := io.WriteString(w, out.String())
	return err
}
