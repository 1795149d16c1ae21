package rules

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/probe"
)

// The limits of the evidence of a finding.
const (
	shownRequest  = 512
	shownResponse = 1 << 10
	shownCases    = 3
	shownName     = 128
	shownLines    = 3
)

// violation is a rule that a subject breaks, and the cases that show it.
type violation struct {
	rule *rule
	hits []hit
}

// find returns the rules of the set that a subject breaks.
func find(p *subject) []violation {
	var out []violation
	for i := range allRules {
		r := &allRules[i]
		if !slices.Contains(r.Sets, p.set) {
			continue
		}
		if hits := r.look(p); len(hits) > 0 {
			out = append(out, violation{r, hits})
		}
	}
	return out
}

func sentence(sentenceStart string, hits []hit) string {
	said := sentenceStart + " " + hits[0].what
	if len(hits) > 1 {
		said += ", in " + strconv.Itoa(len(hits)) + " cases"
	}
	return said + "."
}

// isSuspected reports whether a masked failure is only suspected: the subject has no masked failure in a case that had to fail. The gateway gets
// no rule for a suspicion.
func (p *subject) isSuspected(s *caseResult) bool {
	masked := func(s *caseResult) bool { return s.label() == LabelMaskedText || s.label() == LabelMaskedJSON }
	return masked(s) && !slices.ContainsFunc(p.results, func(other *caseResult) bool { return other.due() && masked(other) })
}

func evidence(s *caseResult) probe.Evidence {
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
	return probe.Evidence{Case: candor.Public(s.Case.Key(), shownRequest), Request: candor.Public(clip(s.Request), shownRequest), Response: candor.Public(clip(response), shownResponse)}
}

// lastLines returns the last lines that a server printed, which usually have the reason why it ended.
func lastLines(stderr string) string {
	lines := strings.FieldsFunc(stderr, func(r rune) bool { return r == '\n' || r == '\r' })
	for len(lines) > shownLines {
		lines = lines[1:]
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// clip shortens a text before it is redacted, so that megabytes are not redacted to show a kilobyte.
func clip(text string) string { return text[:min(len(text), 8*shownResponse)] }
