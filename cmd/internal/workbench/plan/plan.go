// Package plan keeps the plans of a governed workspace: Markdown texts that say which files may be changed, addressed by the hash of their
// content, and approved by a person. What a file in the workspace claims about itself is never believed: its content is hashed again on every
// use, and whether it is approved stands outside the workspace, where the tools cannot write.
package plan

import (
	"io/fs"
	"slices"
	"strings"
)

// Bounds of a plan, in bytes where nothing else is said.
const (
	MaxContent = 256 << 10        // a whole plan
	MaxGlobs   = 200              // scopes of a plan
	MaxGlob    = 256              // one scope
	MaxTitle   = 200              // the title
	MaxFile    = MaxContent + 128 // a plan on disk, with its header
	MaxIssues  = 100              // issues that are reported for one plan
	MinPrefix  = 8                // minimum length of an abbreviated hash
)

// Folder is where the plans are, relative to the workspace. No plan covers anything in it: a plan that could change plans would
// approve itself.
const Folder = "docs/plans"

// ReportsFolder is where reports are, relative to the workspace.
const ReportsFolder = "docs/reports"

// Plan is what a plan says.
type Plan struct {
	Title string   `json:"title"`
	Phase string   `json:"phase,omitempty"`
	Scope []string `json:"scope"` // as written
	Text  string   `json:"-"`     // the Markdown below the front matter

	globs []glob // in the order of Scope
}

// Parse reads a plan. The issues are all there are, errors and warnings in the order of the lines; with an error among them there is no plan.
// It takes bounded time and memory for any input: what YAML offers beyond texts and lists of texts is refused before it is read.
func Parse(content []byte) (*Plan, []Issue) {
	l := &linter{}
	p := l.document(content)
	l.sort()
	if l.failed {
		return nil, l.issues
	}
	return p, l.issues
}

// Lint returns the issues of [Parse].
func Lint(content []byte) []Issue {
	_, issues := Parse(content)
	return issues
}

// Covers reports whether the plan allows a change of this file. The path is relative to the workspace, clean, and written with slashes; no other
// path is covered, and nothing in [Folder], here or in a folder below, or in a folder of version control is, however it is spelt. Scopes are compared segment by segment
// with attention to case: "src/**" covers everything below src, and so does a folder's name alone, "src" or "src/". Files that editors and
// shells obey, such as .vscode/tasks.json, are covered only by a scope that names the file or its folder.
func (p *Plan) Covers(path string) bool {
	segments, ok := coverable(path)
	return ok && p != nil && slices.ContainsFunc(p.globs, func(g glob) bool { return g.covers(segments) && unnamed(segments, g.written) == "" })
}

// coverable returns the segments of a path that a plan may cover at all.
func coverable(path string) ([]string, bool) {
	if path == "." || !fs.ValidPath(path) {
		return nil, false
	}
	segments := strings.Split(path, "/")
	return segments, !inFolder(segments) && !slices.ContainsFunc(segments, isVersionControl)
}

// inFolder reports a path that leads through a folder of plans: that of the workspace, or of a workspace that lies in it.
func inFolder(segments []string) bool {
	for i := range segments {
		if samePair(segments[i:], Folder) {
			return true
		}
	}
	return false
}

// samePair compares the first two segments with a folder such as docs/plans. It also accepts the spellings that some file system takes for
// it: another case, characters that are not seen, dots and spaces at the end of a name.
func samePair(segments []string, folder string) bool {
	return len(segments) >= 2 && folded(segments[0])+"/"+folded(segments[1]) == folder
}

func bare(segment string) string {
	seen := strings.Map(func(r rune) rune {
		if hidden(r) {
			return -1
		}
		return r
	}, segment)
	return strings.TrimRight(seen, ". ")
}
