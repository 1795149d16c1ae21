package gateway

import (
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/argerror"
)

// Validation selects the calls to refuse because their arguments do not match the tool's input schema.
type Validation string

// The validation levels.
const (
	// ValidationLenient refuses a call that cannot succeed: a required argument is missing, has a type that cannot be converted
	// without loss, or has a misspelt key. Other calls are forwarded unchanged; if they fail, the answer lists the mismatches.
	ValidationLenient Validation = "lenient"
	ValidationStrict  Validation = "strict" // refuses every call that does not match or cannot be checked
	ValidationOff     Validation = "off"    // refuses nothing
)

// Validations returns all levels, the default first.
func Validations() []Validation {
	return []Validation{ValidationLenient, ValidationStrict, ValidationOff}
}

// Valid reports whether v is one of [Validations].
func (v Validation) Valid() bool {
	return v == ValidationLenient || v == ValidationStrict || v == ValidationOff
}

// validation returns the level for a tool.
func (u *Upstream) validation(tool string) Validation {
	if v, ok := u.Options.ValidateTools[tool]; ok {
		return v
	}
	return u.Options.Validate
}

// ChecksArguments reports whether calls of a tool are checked before they are forwarded.
func (u *Upstream) ChecksArguments(tool string) bool {
	return u.Options.Mode != ModeObserve && u.validation(tool) != ValidationOff
}

// ChecksAny reports whether calls of any tool are checked. If so, the calls of all tools stay in order.
func (u *Upstream) ChecksAny() bool {
	if u.Options.Validate != ValidationOff {
		return true
	}
	for _, v := range u.Options.ValidateTools {
		if v != ValidationOff {
			return true
		}
	}
	return false
}

// misfit returns the error for arguments that the tool's schema rejects, or nil if they match or the schema is unknown.
func (c *Call) misfit() *candor.Error {
	tool := c.tools.tool(c.tool)
	if tool == nil {
		return nil // a list may be stale or incomplete: the server decides
	}
	strength := c.up.validation(c.tool)
	if strength == ValidationOff {
		return nil
	}
	input, _ := tool.schema()
	if input == nil || input.Useless() {
		return nil
	}
	arguments := c.arguments()
	if input.Accepts(arguments) {
		return nil
	}
	report := input.Explain(arguments)
	if strength == ValidationLenient {
		report = report.Tolerant()
	}
	if strength == ValidationLenient && !report.OK() && !report.Fatal {
		c.mismatches = &mismatches{issues: report.Issues, more: report.More}
		return nil
	}
	return argerror.Report(report, candor.PartyGateway)
}

// mismatches holds the schema issues of a call that was forwarded nevertheless.
type mismatches struct {
	issues []candor.Issue
	more   int // number of further issues
}

// explain adds the schema issues of a forwarded call to the error of its failure. The code is kept, because the arguments may not
// be the reason. An issue of the schema replaces those of the server about the same argument, or about a part of it: the schema knows the
// pattern, the values and the keys. The issues that the server named come first.
func (d *mismatches) explain(e *candor.Error) *candor.Error {
	if d == nil || e == nil {
		return e
	}
	var issues []candor.Issue
	shown := make([]bool, len(d.issues))
	for _, said := range e.Details().Issues() {
		covered := false
		for i, own := range d.issues {
			if !related(own.Path, said.Path) {
				continue
			}
			covered = true
			if !shown[i] {
				shown[i], issues = true, append(issues, own)
			}
		}
		if !covered {
			issues = append(issues, said)
		}
	}
	for i, own := range d.issues {
		if !shown[i] {
			issues = append(issues, own)
		}
	}
	details := e.Details().With("issues", issues)
	if d.more > 0 {
		details = details.With("moreIssues", d.more)
	}
	return e.With(candor.WithDetails(details))
}

// related reports whether two paths are equal or one leads to a part of the other.
func related(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	rest, ok := strings.CutPrefix(b, a)
	return ok && (rest == "" || rest[0] == '/')
}

// own returns the details to keep when the upstream's text is withheld, or nil.
func (d *mismatches) own() any {
	if d == nil {
		return nil
	}
	return map[string]any{"issues": d.issues}
}
