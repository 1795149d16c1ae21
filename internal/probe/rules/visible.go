package rules

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/internal/probe"
)

// visibility sets the clients that do not show their models the words of every failure which a tool reports, of each tool and of all.
func visibility(r *probe.Report, assessments []*assessment) {
	all := map[string]bool{}
	for _, d := range assessments {
		at := slices.IndexFunc(r.Tools, func(t probe.ToolReport) bool { return t.Tool == d.subject.name })
		hidden := map[string]bool{}
		for _, s := range d.subject.results {
			if at >= 0 && s.isToolFailure() {
				r.Clients = len(contract.Clients())
				if s.hide(hidden) {
					r.Hidden++
				}
			}
		}
		if at >= 0 {
			r.Tools[at].HiddenFrom = clientNames(hidden)
			maps.Copy(all, hidden)
		}
	}
	r.HiddenFrom = clientNames(all)
}

// hide adds the clients that do not show the words of a failure: those of its message that any client shows outside of _meta. If there are
// none, a client must show something. It reports whether there are such clients.
func (s *caseResult) hide(hidden map[string]bool) (found bool) {
	clients := contract.Clients()
	var shown []string
	all := ""
	for i := range clients {
		shown = append(shown, clients[i].Shown(s.message))
		if !clients[i].Meta {
			all += shown[i] + "\n"
		}
	}
	said := word.FindAllString(s.reading.Error.Message(), -1)
	said = slices.DeleteFunc(said, func(w string) bool { return !strings.Contains(all, w) }) // words of ours
	for i, text := range shown {
		if strings.TrimSpace(text) == "" || slices.ContainsFunc(said, func(w string) bool { return !strings.Contains(text, w) }) {
			hidden[clients[i].Name], found = true, true
		}
	}
	return found
}

// word matches what is the same in a text and in a JSON string of it.
var word = regexp.MustCompile(`[A-Za-z0-9]+`)

// clientNames returns the names in the order of [contract.Clients].
func clientNames(of map[string]bool) []string {
	var out []string
	for _, c := range contract.Clients() {
		if of[c.Name] {
			out = append(out, c.Name)
		}
	}
	return out
}
