// Package plan keeps the plans of a governed workspace: Markdown texts that say which files may be changed, addressed by the hash of their
// content, and approved by a person. What a file in the workspace claims about itself is never believed: its content is hashed again on every
// use, and whether it is approved stands outside the workspace, where the tools cannot write.
package plan

// Bounds of a plan, in bytes where nothing else is said.
const (
	MaxContent = 256 << 10        // a whole plan
	MaxGlobs   = 200              // scopes of a plan
	MaxGlob    = 256              // one scope
	MaxFile    = MaxContent + 128 // a plan on disk, with its header
	MinPrefix  = 8                // digits of a hash that name a plan, if no other begins so
)

// Folder is where the plans are, relative to the workspace. No plan covers anything in it.
const Folder = "docs/plans"

// Plan is what a plan says.
type Plan struct {
	Title string   `json:"title"`
	Phase string   `json:"phase,omitempty"`
	Scope []string `json:"scope"` // as written
	Text  string   `json:"-"`     // the Markdown below the front matter

	globs []glob
}

// Parse reads a plan. The issues are all there are, errors and warnings; with an error among them there is no plan.
func Parse(content []byte) (*Plan, []Issue) { return nil, nil }

// Lint is [Parse] for one who wants the issues only.
func Lint(content []byte) []Issue {
	_, issues := Parse(content)
	return issues
}

// Covers reports whether the plan allows a change of this file. The path is relative to the workspace, clean, and written with slashes.
func (p *Plan) Covers(path string) bool { return false }
