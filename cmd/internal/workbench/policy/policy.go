// Package policy defines which content a workspace refuses in its files, and which checks follow a change.
//
// Only additions are checked: an agent is not blamed for existing content. The matches of a rule in the new content are
// compared with its matches in the old content, line by line and regardless of position. A line that has moved is therefore
// not new, but a line that has become code because the comment around it was removed is.
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

// MaxFile is the maximum size of a file that can be checked; larger files are refused.
const MaxFile = 8 << 20

// maxIssues is the maximum number of violations that an error lists.
const maxIssues = 50

// Policy is a set of rules and commands. It is immutable and safe for concurrent use.
type Policy struct {
	rules    []rule
	commands []command
}

// command is a check and the globs of the files that trigger it.
type command struct {
	preflight.Command
	files []string
}

// rule forbids adding certain content to a file.
type rule struct {
	id         string
	files      []string // globs; empty means all files
	exempt     []string
	rust       bool // its violation is RUST_POLICY_VIOLATION
	message    string
	suggestion string
	find       func(text []byte) []int // offsets of the violations, in order
}

// Default returns the policy that applies without a policy file: all built-in groups, no other rules, no commands.
func Default() *Policy {
	p := &Policy{}
	for _, group := range groupNames {
		p.rules = append(p.rules, groups[group]...)
	}
	return p
}

// Check checks the content that a change adds to a file. path is relative to the workspace, with slashes; before is
// empty for a new file. The error is POLICY_VIOLATION or RUST_POLICY_VIOLATION, depending on the first violation. Its
// details list rule and line of up to 50 violations but no content. A file that is too large to be checked is
// INVALID_INPUT_VALUE.
func (p *Policy) Check(path string, before, after []byte) error {
	if len(after) > MaxFile {
		return candor.New(kaiza.InvalidInputValue, fmt.Sprintf("The file would be larger than %d MiB.", MaxFile>>20),
			candor.WithDetails(map[string]any{"rule": "FILE_SIZE", "file": path}), candor.WithSuggestion("Split the content into smaller files."))
	}
	if len(before) > MaxFile {
		before = nil // check the whole content as new
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

// Preflight returns the commands to run after a change of these paths, in the order of the file.
func (p *Policy) Preflight(paths ...string) []preflight.Command {
	var out []preflight.Command
	for _, c := range p.commands {
		if slices.ContainsFunc(paths, func(path string) bool { return len(c.files) == 0 || matches(c.files, path) }) {
			out = append(out, c.Command)
		}
	}
	return out
}

// Commands returns all commands, for the check at startup.
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

// gained returns the violations of a rule in the new content that the old content does not have.
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

// lineAt returns the line around an offset without surrounding white space, so that a change of indentation does not
// count. For a long line it returns the part around the offset, because a file may be a single line with a violation in
// every word.
func lineAt(text []byte, at int) string {
	const most = 256
	head, rest := text[max(0, at-most):at], text[at:min(len(text), at+most)]
	head = head[bytes.LastIndexByte(head, '\n')+1:]
	if end := bytes.IndexByte(rest, '\n'); end >= 0 {
		rest = rest[:end]
	}
	return strings.TrimSpace(string(head) + string(rest))
}

// violation returns the error for the findings, which are in the order of lines.
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
		if !reported[f.rule] { // once per rule, because details are limited
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
