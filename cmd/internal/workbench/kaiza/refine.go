package kaiza

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	kaizacode "github.com/candor-mcp/candor/codes/kaiza"
	"github.com/candor-mcp/candor/internal/lazyregexp"
	"github.com/candor-mcp/candor/internal/redact"
)

// refine converts a failure to the codes of this system and adds the plan and phase that the call named.
func (k *System) refine(c *workbench.Call, e *candor.Error) *candor.Error {
	if own := ownCode(e); own != e.Code() {
		e = workbench.Recode(e, own, wording(e, own))
	}
	if advice := e.Suggestion(); operatorCommand.Get().MatchString(advice) {
		e = e.With(candor.WithSuggestion(operatorCommand.Get().ReplaceAllString(advice, "$0 (in the folder of the workspace"+k.o.Flags+")")))
	}
	if c.Session != nil && slices.Contains(locking, e.Code()) && e.Code() != kaizacode.InvariantViolation {
		e = e.With(candor.WithSuggestion("This has locked the session: first write a report below " + reportsFolder + " with write_file. Then: " + e.Suggestion()))
	}
	claimed := claimsOf(c)
	at := e.CallInfo()
	at.PhaseID, at.PlanHash = cmp.Or(at.PhaseID, redact.Text(text(claimed.PhaseID))), cmp.Or(at.PlanHash, k.planOf(c, text(claimed.Plan)))
	return e.With(candor.WithCallInfo(at))
}

// operatorCommand is a command in a suggestion. A suggestion cannot have paths, so it says where and with which flags to
// run the command.
var operatorCommand = lazyregexp.New(`candor workbench (approve [0-9a-f]+|unlock)`)

// planOf returns the hash of the plan that a call names, or "" if there is no such plan.
func (k *System) planOf(c *workbench.Call, hash string) string {
	if hash == "" || c.Session == nil {
		return ""
	}
	d, err := k.workspaceOf(c.Session)
	if err != nil {
		return ""
	}
	full, err := d.plans.Resolve(hash)
	if err != nil {
		return ""
	}
	return full
}

// ownCode returns the code of this system with the same symbol, or the code of e if it does not exist.
func ownCode(e *candor.Error) candor.Code {
	if e.Code() == candor.CodeInvalidArguments {
		return inputCode(e.Details().Issues())
	}
	if own, ok := candor.LookupCode(Domain, e.Code().Symbol()); ok {
		return own
	}
	return e.Code()
}

// inputCode returns the code for invalid arguments by the issue to fix first: form, missing field, type, value.
func inputCode(issues []candor.Issue) candor.Code {
	has := func(match func(candor.Issue) bool) bool { return slices.ContainsFunc(issues, match) }
	switch {
	case len(issues) == 0 || has(func(i candor.Issue) bool { return i.Path == "" && i.Rule == "type" }):
		return kaizacode.InvalidInputFormat
	case has(func(i candor.Issue) bool { return i.Rule == "required" }):
		return kaizacode.MissingRequiredField
	case has(func(i candor.Issue) bool { return i.Rule == "type" }):
		return kaizacode.InvalidInputType
	}
	return kaizacode.InvalidInputValue
}

// wording returns the message of an error under another code. It includes the first issue, because the envelope of this
// system does not have a member for issues.
func wording(e *candor.Error, code candor.Code) string {
	issues := e.Details().Issues()
	if e.Code() != candor.CodeInvalidArguments || len(issues) == 0 {
		return e.Message()
	}
	text := sentence(code, issues[0])
	if more := len(issues) - 1; more > 0 {
		text += fmt.Sprintf(" (and %d more)", more)
	}
	return text + "."
}

// sentence returns the sentence of a code with an issue, without the full stop.
func sentence(code candor.Code, issue candor.Issue) string {
	text := code.Info().Sentence + " " + strings.TrimPrefix(issue.Path, "/")
	if issue.Path != "" {
		text += ": "
	}
	return text + issue.Message
}
