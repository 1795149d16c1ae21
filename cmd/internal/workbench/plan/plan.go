// Package plan keeps the plans of a governed workspace: Markdown texts that list the files that may be changed,
// addressed by the hash of their content and approved by a person. The claims of a file in the workspace are not
// trusted: its content is hashed again on every use, and approvals are recorded outside the workspace, where the tools
// cannot write.
package plan

import (
	"io/fs"
	"slices"
	"strings"
)

// Limits of a plan, in bytes unless noted otherwise.
const (
	MaxContent = 256 << 10        // a whole plan
	MaxGlobs   = 200              // number of scopes of a plan
	MaxGlob    = 256              // one scope
	MaxTitle   = 200              // the title
	MaxFile    = MaxContent + 128 // a plan on disk, with its header
	MaxIssues  = 100              // number of issues reported for one plan
	MinPrefix  = 8                // minimum length of an abbreviated hash
)

// Folder is the folder of the plans, relative to the workspace. Plans do not cover files in it: a plan that could change
// plans could approve itself.
const Folder = "docs/plans"

// ReportsFolder is the folder of the reports, relative to the workspace.
const ReportsFolder = "docs/reports"

// Plan is a parsed plan.
type Plan struct {
	Title string   `json:"title"`
	Phase string   `json:"phase,omitempty"`
	Scope []string `json:"scope"` // as written
	Text  string   `json:"-"`     // the Markdown below the front matter

	globs []glob // in the order of Scope
}

// Parse parses a plan, or returns all issues in the order of the lines. Time and memory are bounded for any input: YAML
// beyond texts and lists of texts is refused before it is parsed.
func Parse(content []byte) (*Plan, []Issue) {
	l := &linter{}
	p := l.document(content)
	if len(l.issues) > 0 {
		l.sort()
		return nil, l.issues
	}
	return p, nil
}

// Covers reports whether the plan allows a change of this file. The path must be relative to the workspace, clean, and
// written with slashes; other paths are not covered. Files in [Folder], also that of a nested workspace, and in folders
// of version control are not covered in any spelling. Scopes are matched segment by segment and case-sensitively:
// "src/**" covers everything below src, and so does the name of the folder, "src" or "src/". Files that editors and
// shells act on, such as .vscode/tasks.json, are covered only by a scope that names the file or its folder.
func (p *Plan) Covers(path string) bool {
	segments := strings.Split(path, "/")
	return p != nil && path != "." && fs.ValidPath(path) && !inFolder(segments) && Unprotected(path) &&
		slices.ContainsFunc(p.globs, func(g glob) bool { return g.covers(path) && unnamed(segments, g.written) == "" })
}

// inFolder reports whether a path leads through a folder of plans, of the workspace or of one nested in it, in any
// spelling.
func inFolder(segments []string) bool {
	for i := 1; i < len(segments); i++ {
		if folded(segments[i-1])+"/"+folded(segments[i]) == Folder {
			return true
		}
	}
	return false
}
