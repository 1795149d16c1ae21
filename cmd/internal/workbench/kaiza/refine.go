package kaiza

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	kaizacode "github.com/candor-mcp/candor/codes/kaiza"
)

// refine converts a failure to the codes of this system and adds the plan and phase that the call named.
func (k *System) refine(c *workbench.Call, e *candor.Error) *candor.Error {
	if own := ownCode(e); own != e.Code() {
		e = workbench.Recode(e, own, wording(e, own))
	}
	claimed := claimsOf(c)
	at := e.CallInfo()
	at.PhaseID, at.PlanHash = cmp.Or(at.PhaseID, text(claimed.PhaseID)), cmp.Or(at.PlanHash, text(claimed.Plan))
	return e.With(candor.WithCallInfo(at))
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
