// Package policy is what a workspace does not let into its files, and which checks follow a change.
//
// Only what a change adds is judged: an agent is not blamed for what it found. Whatever a rule finds in the new content is set
// against what the same rule finds in the old one, line by line and wherever they stand, so a line that has moved is not new, and
// one that has become code because the comment around it is gone is.
package policy

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench/preflight"
	"github.com/candor-mcp/candor/codes/kaiza"
)

// MaxFile is how large a file may be to be judged; a larger one is refused.
const MaxFile = 8 << 20

// maxIssues is how many violations an error lists.
const maxIssues = 50

// Policy is safe for use by several goroutines; nothing changes it.
type Policy struct {
	rules    []rule
	commands []command
}

// command is a check and the files that call for it.
type command struct {
	preflight.Command
	files []string
}

// rule is one thing that a file may not gain.
type rule struct {
	id         string
	files      []string // globs; none is all
	exempt     []string
	rust       bool // its violation is RUST_POLICY_VIOLATION
	message    string
	suggestion string
	find       func(text []byte) []int // where it is broken; offsets in order
}

// Default is the policy without a file: all built-in groups, no further rules, no commands.
func Default() *Policy {
	p := &Policy{}
	for _, group := range groupNames {
		p.rules = append(p.rules, groups[group]...)
	}
	return p
}

// Check judges what a change adds to a file, named by its path in the workspace with slashes. before is empty for a new file. The
// error is POLICY_VIOLATION or RUST_POLICY_VIOLATION, after the first thing found; its details list rule and line of up to 50, and
// nothing of the content. A file that is too large to be judged is INVALID_INPUT_VALUE, which breaks no rule.
func (p *Policy) Check(path string, before, after []byte) error {
	if len(after) > MaxFile {
		return candor.New(kaiza.InvalidInputValue, fmt.Sprintf("The file would be larger than %d MiB.", MaxFile>>20),
			candor.WithDetails(map[string]any{"rule": "FILE_SIZE", "file": path}), candor.WithSuggestion("Split the content into smaller files."))
	}
	if len(before) > MaxFile {
		before = nil // all of it counts as new
	}
	var found []finding
	for _, r := range p.rules {
		if r.concerns(path) {
			found = append(found, r.gained(before, after)...)
		}
	}
	if len(found) == 0 {
		return nil
	}
	slices.SortStableFunc(found, func(a, b finding) int { return a.line - b.line })
	return violation(path, found)
}

// Preflight returns the commands that follow a change of these paths, in the order of the file.
func (p *Policy) Preflight(paths ...string) []preflight.Command {
	var out []preflight.Command
	for _, c := range p.commands {
		if slices.ContainsFunc(paths, func(path string) bool { return len(c.files) == 0 || matches(c.files, path) }) {
			out = append(out, c.Command)
		}
	}
	return out
}

// Commands returns all of them, for the check at start-up.
func (p *Policy) Commands() []preflight.Command {
	out := make([]preflight.Command, 0, len(p.commands))
	for _, c := range p.commands {
		out = append(out, c.Command)
	}
	return out
}

func (r *rule) concerns(path string) bool {
	return (len(r.files) == 0 || matches(r.files, path)) && !matches(r.exempt, path)
}

func matches(globs []string, path string) bool {
	return slices.ContainsFunc(globs, func(glob string) bool { return doublestar.MatchUnvalidated(glob, path) })
}

// finding is one violation.
type finding struct {
	rule *rule
	line int // from 1, in the new content
}

// gained returns what a rule finds in the new content beyond what it finds in the old one.
func (r *rule) gained(before, after []byte) []finding {
	found := r.find(after)
	if len(found) == 0 {
		return nil
	}
	had := map[string]int{}
	for _, at := range r.find(before) {
		had[lineAt(before, at)]++
	}
	var out []finding
	line, counted := 1, 0
	for _, at := range found {
		line, counted = line+bytes.Count(after[counted:at], []byte("\n")), at
		if len(had) > 0 {
			if text := lineAt(after, at); had[text] > 0 {
				had[text]--
				continue
			}
		}
		out = append(out, finding{r, line})
	}
	return out
}

// lineAt is the line around an offset, without the space around it: a line that is only indented anew is the same. Of a long one it
// is the part around the offset, because a file may be one line with a violation in every word.
func lineAt(text []byte, at int) string {
	const most = 256
	head, rest := text[max(0, at-most):at], text[at:min(len(text), at+most)]
	head = head[bytes.LastIndexByte(head, '\n')+1:]
	if end := bytes.IndexByte(rest, '\n'); end >= 0 {
		rest = rest[:end]
	}
	return strings.TrimSpace(string(head) + string(rest))
}

// violation is the error for everything found, which is in the order of lines.
func violation(path string, found []finding) error {
	type issue struct {
		Rule    string `json:"rule"`
		Line    int    `json:"line"`
		Message string `json:"message,omitempty"`
	}
	issues := make([]issue, 0, min(len(found), maxIssues))
	reported := map[*rule]bool{}
	for _, f := range found[:min(len(found), maxIssues)] {
		i := issue{Rule: f.rule.id, Line: f.line}
		if !reported[f.rule] { // only once, because details are limited
			i.Message, reported[f.rule] = f.rule.message, true
		}
		issues = append(issues, i)
	}
	first := found[0]
	code := kaiza.PolicyViolation
	if first.rule.rust {
		code = kaiza.RustPolicyViolation
	}
	options := []candor.Option{candor.WithDetails(struct {
		Rule   string  `json:"rule"`
		File   string  `json:"file"`
		Line   int     `json:"line"`
		Count  int     `json:"count"`
		Issues []issue `json:"issues"`
	}{first.rule.id, path, first.line, len(found), issues})}
	if first.rule.suggestion != "" {
		options = append(options, candor.WithSuggestion(first.rule.suggestion))
	}
	return candor.New(code, fmt.Sprintf("Line %d breaks the rule %s: %s", first.line, first.rule.id, first.rule.message), options...)
}
