package workrail

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/workflow"
	blockerscode "github.com/candor-mcp/candor/codes/blockers"
	"github.com/candor-mcp/candor/internal/jsontext"
)

// blocker is one reason why a step cannot be completed.
type blocker struct {
	Code         string  `json:"code"`
	Pointer      pointer `json:"pointer"`
	Message      string  `json:"message"`
	SuggestedFix string  `json:"suggestedFix"`
}

// pointer names the subject of a blocker.
type pointer struct {
	Kind string `json:"kind"` // workflow_step, context_key, output, capability or session
	Step string `json:"stepId,omitempty"`
	Name string `json:"name,omitempty"`
	// Names replaces Name if there are too many subjects for one blocker each.
	Names []string `json:"names,omitempty"`
}

// The budget of a report. A report is never truncated; one that does not fit is a bug in the server.
const (
	maxBlockers     = 10
	maxMessageBytes = 512
	maxFixBytes     = 1024
)

// maxSingle is the number of keys or capabilities that get one blocker each. More share a blocker, so that a report has
// at most 10: notes, output, the user's answer, the size of the context, and three each for keys and capabilities.
const maxSingle = 3

// newBlocker returns a blocker. It appends [withRetryToken] to the fix.
func newBlocker(code candor.Code, at pointer, message, fix string) blocker {
	return blocker{Code: code.Symbol(), Pointer: at, Message: oneLine(message),
		SuggestedFix: fix + withRetryToken}
}

// withRetryToken ends every fix: the token of the blocked call only replays the report.
const withRetryToken = " Then call continue_workflow with retryContinueToken from this answer, not with the token you used."

// checkReport sorts the blockers and checks them against the budget.
func checkReport(all []blocker) error {
	slices.SortStableFunc(all, func(a, b blocker) int {
		return cmp.Or(cmp.Compare(a.Code, b.Code), cmp.Compare(a.Pointer.Name, b.Pointer.Name))
	})
	if len(all) > maxBlockers {
		return fmt.Errorf("%d blockers, at most %d fit a report", len(all), maxBlockers)
	}
	for _, b := range all {
		if len(b.Message) > maxMessageBytes {
			return fmt.Errorf("the message of %s has %d bytes, at most %d fit", b.Code, len(b.Message), maxMessageBytes)
		}
		if len(b.SuggestedFix) > maxFixBytes {
			return fmt.Errorf("the fix of %s has %d bytes, at most %d fit", b.Code, len(b.SuggestedFix), maxFixBytes)
		}
	}
	return nil
}

// capabilitiesKey is the context key for the available capabilities: an object that maps names to true or false.
const capabilitiesKey = "capabilities"

// blockers returns the reasons why an attempt does not complete the pending step.
func (s *System) blockers(w *workflow.Workflow, v *sessionState, try *attempt, after map[string]any) ([]blocker, error) {
	pending, ok, err := v.position.Pending(w, after)
	if err != nil {
		if b, broken := brokenRule(v, err); broken {
			return []blocker{b}, nil
		}
		return nil, &continueError{advanceApplyFailed, err}
	}
	if !ok {
		return nil, &continueError{kind: noPendingStep}
	}
	step := pending.Step
	at := pointer{Kind: "workflow_step", Step: step.ID}
	var all []blocker
	if step.Notes == workflow.NotesRequired && strings.TrimSpace(try.notes) == "" {
		all = append(all, newBlocker(blockerscode.MissingRequiredNotes, at, "The step needs notes.", "Write in notes what you did and found in this step."))
	}
	if b, blocked := s.outputBlocker(step, try); blocked {
		all = append(all, b)
	}
	all = append(all, keyBlockers(step, pending.MissingKeys)...)
	if step.AskUser != nil && !v.answered && try.answer == nil {
		all = append(all, newBlocker(blockerscode.UserOnlyDependency, pointer{Kind: "context_key", Step: step.ID, Name: step.AskUser.Key},
			"Only the user can answer: "+cut(pending.Question, 400),
			"Ask the user to answer in a terminal: candor workbench workrail answer "+try.token.Session.String()+s.o.AnswerFlags+". Wait until the user has done so."))
	}
	all = append(all, capabilityBlockers(step, after)...)
	if b, blocked := budgetBlocker(step, after); blocked {
		all = append(all, b)
	}
	return all, nil
}

// keyBlockers asks for the context keys that a step requires.
func keyBlockers(step *workflow.Step, keys []string) (all []blocker) {
	for _, names := range grouped(keys, len(keys) > maxSingle) {
		message, fix := "The context lacks the key "+names[0]+", which the step needs.", "Set context."+names[0]+"."
		if len(names) > 1 {
			message = fmt.Sprintf("The context lacks %d keys that the step needs: %s.", len(names), cut(strings.Join(names, ", "), 400))
			fix = "Set them all in context in one call. resume_session shows the step, which names each of them."
		}
		all = append(all, newBlocker(blockerscode.MissingContextKey, pointerTo("context_key", step, names), message, fix))
	}
	return all
}

func cut(text string, bytes int) string { return candor.Public(text, bytes) }

func (s *System) outputBlocker(step *workflow.Step, try *attempt) (blocker, bool) {
	at := pointer{Kind: "output", Step: step.ID}
	given := len(try.output) > 0 && string(try.output) != "null"
	switch {
	case step.Output == nil, !given && step.Output.Optional:
		return blocker{}, false
	case !given:
		message := "The step needs an output."
		if about := strings.TrimSpace(step.Output.Description); about != "" {
			message = "The step needs an output: " + cut(about, 300)
		}
		return newBlocker(blockerscode.MissingRequiredOutput, at, message,
			"Give the JSON value in output that the step describes."), true
	case step.Output.Schema == nil:
		return blocker{}, false
	}
	compiled, err := s.schemas.Get(step.Output.Schema)
	if err != nil || compiled.Accepts(try.output) {
		return blocker{}, false // the schema was compiled when the workflow was read
	}
	report := compiled.Explain(try.output)
	if len(report.Issues) == 0 {
		return blocker{}, false
	}
	var wrong []string
	for _, i := range report.Issues[:min(3, len(report.Issues))] {
		wrong = append(wrong, strings.TrimSpace("output"+strings.ReplaceAll(i.Path, "/", ".")+": "+i.Message))
	}
	if more := len(report.Issues) + report.More - len(wrong); more > 0 {
		wrong = append(wrong, fmt.Sprintf("and %d more", more))
	}
	return newBlocker(blockerscode.InvalidRequiredOutput, at, cut("The output does not fit its schema: "+strings.Join(wrong, "; "), maxMessageBytes-1)+".",
		"Correct the output; its JSON Schema is in the step."), true
}

// capabilityBlockers asks for the capabilities that a step requires and the context does not list as available.
func capabilityBlockers(step *workflow.Step, context map[string]any) (all []blocker) {
	known, _ := context[capabilitiesKey].(map[string]any)
	var unavailable, unknown []string
	for _, name := range slices.Sorted(slices.Values(step.Capabilities)) {
		switch known[name] {
		case true:
		case false:
			unavailable = append(unavailable, name)
		default:
			unknown = append(unknown, name)
		}
	}
	shared := len(unavailable)+len(unknown) > maxSingle
	for _, names := range grouped(unavailable, shared) {
		all = append(all, newBlocker(blockerscode.RequiredCapabilityUnavailable, pointerTo("capability", step, names),
			"The step needs what is not available: "+cut(strings.Join(names, ", "), 400)+".",
			"Tell the user that this workflow needs it. If it is available after all, set it to true in context."+capabilitiesKey+"."))
	}
	for _, names := range grouped(unknown, shared) {
		all = append(all, newBlocker(blockerscode.RequiredCapabilityUnknown, pointerTo("capability", step, names),
			"The session does not know whether this is available: "+cut(strings.Join(names, ", "), 400)+".",
			"Find out, and set context."+capabilitiesKey+" to an object that has true or false for it."))
	}
	return all
}

// grouped returns one group of names for each blocker.
func grouped(names []string, shared bool) [][]string {
	switch {
	case len(names) == 0:
		return nil
	case shared:
		return [][]string{names}
	}
	return slices.Collect(slices.Chunk(names, 1))
}

// pointerTo names one or several subjects.
func pointerTo(kind string, step *workflow.Step, names []string) pointer {
	if len(names) == 1 {
		return pointer{Kind: kind, Step: step.ID, Name: names[0]}
	}
	return pointer{Kind: kind, Step: step.ID, Names: names}
}

// budgetBlocker checks the size of the context that the session would have.
func budgetBlocker(step *workflow.Step, after map[string]any) (blocker, bool) {
	text, err := jsontext.AppendCanonical(nil, after)
	if err == nil && len(text) <= maxContextBytes {
		return blocker{}, false
	}
	return newBlocker(blockerscode.ContextBudgetExceeded, pointer{Kind: "session", Step: step.ID},
		fmt.Sprintf("With this call the context of the session has %d bytes as canonical JSON; at most %d are allowed.", len(text), maxContextBytes),
		"Remove keys by setting them to null, or shorten their values; keep long texts in files and put their paths into the context."), true
}
