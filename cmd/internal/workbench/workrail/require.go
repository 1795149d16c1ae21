package workrail

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/jsonvalue"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/workflow"
	blockerscode "github.com/candor-mcp/candor/codes/blockers"
)

// capabilitiesKey is the context key for the available capabilities: an object that maps names to true or false.
const capabilitiesKey = "capabilities"

func digestOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

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
	if pending.AwaitingUser {
		all = append(all, newBlocker(blockerscode.UserOnlyDependency, pointer{Kind: "context_key", Step: step.ID, Name: step.AskUser.Key},
			"Only the user can answer: "+cut(pending.Question, 400), "Ask the user, and put the answer into context."+step.AskUser.Key+"."))
	}
	all = append(all, capabilityBlockers(step, after)...)
	if b, blocked := budgetBlocker(step, after); blocked {
		all = append(all, b)
	}
	return all, nil
}

// keyBlockers asks for the context keys that a step requires.
func keyBlockers(step *workflow.Step, keys []string) (all []blocker) {
	if len(keys) > maxSingle {
		return []blocker{newBlocker(blockerscode.MissingContextKey, pointer{Kind: "context_key", Step: step.ID, Names: keys},
			fmt.Sprintf("The context lacks %d keys that the step needs: %s.", len(keys), joined(keys, 400)),
			"Set them all in context in one call. resume_session shows the step, which names each of them.")}
	}
	for _, key := range keys {
		all = append(all, newBlocker(blockerscode.MissingContextKey, pointer{Kind: "context_key", Step: step.ID, Name: key},
			"The context lacks the key "+key+", which the step needs.", "Set context."+key+"."))
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
	if len(unavailable)+len(unknown) > maxSingle {
		return sharedCapabilities(step, unavailable, unknown)
	}
	for _, name := range unavailable {
		all = append(all, newBlocker(blockerscode.RequiredCapabilityUnavailable, pointer{Kind: "capability", Step: step.ID, Name: name},
			"The step needs the capability "+name+", which is not available.",
			"Tell the user that this workflow needs it. If it is available after all, set context."+capabilitiesKey+"."+name+" to true."))
	}
	for _, name := range unknown {
		all = append(all, newBlocker(blockerscode.RequiredCapabilityUnknown, pointer{Kind: "capability", Step: step.ID, Name: name},
			"It is not known whether the capability "+name+" is available.",
			"Find out, and set context."+capabilitiesKey+" to an object with "+name+" true or false."))
	}
	return all
}

// sharedCapabilities returns one blocker for all unavailable capabilities and one for all unknown ones.
func sharedCapabilities(step *workflow.Step, unavailable, unknown []string) (all []blocker) {
	if len(unavailable) > 0 {
		all = append(all, newBlocker(blockerscode.RequiredCapabilityUnavailable, pointer{Kind: "capability", Step: step.ID, Names: unavailable},
			"The step needs capabilities that are not available: "+joined(unavailable, 400)+".",
			"Tell the user that this workflow needs them. If they are available after all, set each to true in context."+capabilitiesKey+"."))
	}
	if len(unknown) > 0 {
		all = append(all, newBlocker(blockerscode.RequiredCapabilityUnknown, pointer{Kind: "capability", Step: step.ID, Names: unknown},
			"It is not known whether these capabilities are available: "+joined(unknown, 400)+".",
			"Find out, and set context."+capabilitiesKey+" to an object with each of them true or false."))
	}
	return all
}

// budgetBlocker checks the size of the context that the session would have.
func budgetBlocker(step *workflow.Step, after map[string]any) (blocker, bool) {
	text, err := jsonvalue.Append(nil, after)
	if err == nil && len(text) <= maxContextBytes {
		return blocker{}, false
	}
	return newBlocker(blockerscode.ContextBudgetExceeded, pointer{Kind: "session", Step: step.ID},
		fmt.Sprintf("With this call the context of the session has %d bytes as canonical JSON; at most %d are allowed.", len(text), maxContextBytes),
		"Remove keys by setting them to null, or shorten their values; keep long texts in files and put their paths into the context."), true
}
