package judge

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/candor-mcp/candor/cmd/internal/probe"
	"github.com/candor-mcp/candor/contract"
)

// The bounds of what is shown.
const (
	shownRequest  = 512
	shownResponse = 1 << 10
	shownCases    = 3
	shownName     = 128
	shownLines    = 3
)

// breach is a rule that a party breaks, and the cases that show it.
type breach struct {
	rule *rule
	hits []hit
}

// find holds the rules of a set against a party.
func find(p *party) []breach {
	var out []breach
	for i := range all {
		r := &all[i]
		if !slices.Contains(r.Sets, p.set) {
			continue
		}
		if hits := r.look(p); len(hits) > 0 {
			out = append(out, breach{r, hits})
		}
	}
	return out
}

func finding(r *rule, p *party, hits []hit) probe.Finding {
	f := probe.Finding{Rule: r.ID, Severity: r.Severity, Tool: p.name, Field: hits[0].s.Case.Field, Fix: r.Fix, Outside: r.Outside, Count: len(hits)}
	for _, h := range hits {
		if h.s.Case.Field != f.Field {
			f.Field = "" // it is about more than one
		}
		if h.unmendable || p.guesses(h.s) {
			f.Outside = false
		}
		if len(f.Evidence) < shownCases {
			f.Evidence = append(f.Evidence, evidence(h.s))
		}
	}
	f.Message = sentence(contract.Bound(p.subject(), shownName), hits)
	return f
}

func sentence(subject string, hits []hit) string {
	said := subject + " " + hits[0].what
	if len(hits) > 1 {
		said += ", in " + strconv.Itoa(len(hits)) + " cases"
	}
	return said + "."
}

// guesses reports a masked failure of a party that never failed so where it had to: that it is one is a guess, and no rule for the gateway is
// made of a guess.
func (p *party) guesses(s *sight) bool {
	masked := func(s *sight) bool { return s.label() == LabelMaskedText || s.label() == LabelMaskedJSON }
	return masked(s) && !slices.ContainsFunc(p.sights, func(other *sight) bool { return other.due() && masked(other) })
}

func evidence(s *sight) probe.Evidence {
	response := s.Response
	if response == "" {
		response = string(s.Outcome)
		if how := cmp.Or(s.Exit, s.Broken); how != "" {
			response += ": " + how
		}
		if said := lastLines(s.Stderr); said != "" && s.Outcome == probe.OutcomeCrash {
			response += "; it printed: " + said
		}
	}
	if len(s.Noise) > 0 {
		response = s.Noise[0] + "\n" + response
	}
	return probe.Evidence{Case: contract.Bound(s.Case.Key(), shownRequest), Request: contract.Bound(cut(s.Request), shownRequest), Response: contract.Bound(cut(response), shownResponse)}
}

// lastLines is the end of what a server printed, where the reason stands why it ended.
func lastLines(stderr string) string {
	lines := strings.FieldsFunc(stderr, func(r rune) bool { return r == '\n' || r == '\r' })
	for len(lines) > shownLines {
		lines = lines[1:]
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// cut keeps what could be shown, so that a message of megabytes is not redacted for a kilobyte.
func cut(text string) string { return text[:min(len(text), 8*shownResponse)] }

// order sorts findings: the worst first, then by rule, tool and field.
func order(findings []probe.Finding) {
	slices.SortStableFunc(findings, func(a, b probe.Finding) int {
		return cmp.Or(cmp.Compare(weight(b.Severity), weight(a.Severity)), cmp.Compare(a.Rule, b.Rule), cmp.Compare(len(b.Tools), len(a.Tools)), cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.Field, b.Field))
	})
}
