package workrail

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/workbench/workrail/jsonvalue"
	"github.com/candor-mcp/candor/workbench/workrail/workflow"
)

// capabilitiesKey is the key of the context that says which capabilities there are: an object of names with true or false.
const capabilitiesKey = "capabilities"

func digestOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// blockers returns what an attempt lacks to complete the pending step.
func (s *System) blockers(w *workflow.Workflow, v *standing, try *attempt, after map[string]any) ([]blocker, error) {
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
		all = append(all, newBlocker(candor.CodeBlockersMissingRequiredNotes, at, "The step needs notes.", "Write in notes what you did and found in this step."))
	}
	if b, blocked := s.outputBlocker(step, try); blocked {
		all = append(all, b)
	}
	for _, key := range limit(pending.MissingKeys) {
		all = append(all, newBlocker(candor.CodeBlockersMissingContextKey, pointer{Kind: "context_key", Step: step.ID, Name: key},
			"The context lacks the key "+key+", which the step needs.", "Set context."+key+"."))
	}
	if pending.AwaitingUser {
		all = append(all, newBlocker(candor.CodeBlockersUserOnlyDependency, pointer{Kind: "context_key", Step: step.ID, Name: step.AskUser.Key},
			"Only the user can answer: "+cut(pending.Question, 400), "Ask the user, and put the answer into context."+step.AskUser.Key+"."))
	}
	all = append(all, capabilityBlockers(step, after)...)
	if b, blocked := budgetBlocker(step, after); blocked {
		all = append(all, b)
	}
	return all[:min(len(all), maxBlockers)], nil
}

// limit keeps room for other blockers. The rest is reported once these are gone.
func limit(keys []string) []string { return keys[:min(len(keys), 4)] }

func cut(text string, bytes int) string { return candor.Public(text, bytes) }

func (s *System) outputBlocker(step *workflow.Step, try *attempt) (blocker, bool) {
	at := pointer{Kind: "output", Step: step.ID}
	given := len(try.output) > 0 && string(try.output) != "null"
	switch {
	case step.Output == nil, !given && step.Output.Optional:
		return blocker{}, false
	case !given:
		return newBlocker(candor.CodeBlockersMissingRequiredOutput, at, "The step needs an output: "+cut(step.Output.Description, 300),
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
	return newBlocker(candor.CodeBlockersInvalidRequiredOutput, at, cut("The output does not fit its schema: "+strings.Join(wrong, "; "), maxMessageBytes-1)+".",
		"Correct the output; its JSON Schema is in the step."), true
}

// capabilityBlockers asks for the capabilities of a step. They are named by the context, by whoever knows the environment.
func capabilityBlockers(step *workflow.Step, context map[string]any) []blocker {
	known, _ := context[capabilitiesKey].(map[string]any)
	var all []blocker
	names := slices.Sorted(slices.Values(step.Capabilities))
	for _, name := range names[:min(len(names), 3)] {
		at := pointer{Kind: "capability", Step: step.ID, Name: name}
		switch known[name] {
		case true:
		case false:
			all = append(all, newBlocker(candor.CodeBlockersRequiredCapabilityUnavailable, at, "The step needs the capability "+name+", which is not available.",
				"Tell the user that this workflow needs it. If it is available after all, set context."+capabilitiesKey+"."+name+" to true."))
		default:
			all = append(all, newBlocker(candor.CodeBlockersRequiredCapabilityUnknown, at, "It is not known whether the capability "+name+" is available.",
				"Find out, and set context."+capabilitiesKey+" to an object with "+name+" true or false."))
		}
	}
	return all
}

// budgetBlocker measures the context that the session would have.
func budgetBlocker(step *workflow.Step, after map[string]any) (blocker, bool) {
	text, err := jsonvalue.Append(nil, after)
	if err == nil && len(text) <= maxContextBytes {
		return blocker{}, false
	}
	return newBlocker(candor.CodeBlockersContextBudgetExceeded, pointer{Kind: "session", Step: step.ID},
		fmt.Sprintf("With this call the context of the session has %d bytes as canonical JSON; at most %d are allowed.", len(text), maxContextBytes),
		"Remove keys by setting them to null, or shorten their values; keep long texts in files and put their paths into the context."), true
}
