package workrail

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/session"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/token"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/workflow"
	workrailcode "github.com/candor-mcp/candor/codes/workrail"
)

func (s *System) rewindSession() workbench.Tool {
	return workbench.Tool{
		Name: "rewind_session", Title: "Go back one step",
		About: "Do the last completed step of a session again: the context is as before it, and the tokens of later steps are used up. Nothing that the step did is undone. A cancelled session is only opened again.",
		Input: `{` + nameProperties + `}`, Codes: append(slices.Clone(sessionCodes), changeCodes...),
		Run: workbench.Handle(func(ctx context.Context, _ *workbench.Call, in nameArgs) (workbench.Reply, error) {
			return s.change(ctx, in, s.rewind)
		}),
	}
}

type cancelArgs struct {
	nameArgs
	Reason string `json:"reason"`
}

func (s *System) cancelSession() workbench.Tool {
	return workbench.Tool{
		Name: "cancel_session", Title: "Cancel a session", Idempotent: true,
		About: "Give up a session, such as one that was started by mistake. It is not listed as open any more, and no step can be completed; rewind_session opens it again.",
		Input: `{` + nameProperties + `,
"reason":{"type":"string","maxLength":4096,"description":"Why it is given up."}}`,
		Codes: append(slices.Clone(sessionCodes), changeCodes...),
		Run: workbench.Handle(func(ctx context.Context, _ *workbench.Call, in cancelArgs) (workbench.Reply, error) {
			return s.change(ctx, in.nameArgs, func(context.Context, string) (func(*sessionState) ([]session.Record, error), error) {
				return func(v *sessionState) ([]session.Record, error) {
					if v.ended() { // nothing is left to give up
						return nil, nil
					}
					return []session.Record{{Kind: eventCanceled, Data: sessionCanceled{in.Reason}}}, nil
				}, nil
			})
		}),
	}
}

// changeCodes lists the codes of tools that change a session that they do not continue.
var changeCodes = []candor.Code{workrailcode.TokenSessionLocked, workrailcode.SessionNotHealthy, workrailcode.PreconditionFailed}

// change records the events that a function decides on, and returns the position of the session.
func (s *System) change(ctx context.Context, in nameArgs, prepare func(context.Context, string) (func(*sessionState) ([]session.Record, error), error)) (workbench.Reply, error) {
	id, err := s.named(in)
	if err != nil {
		return workbench.Reply{}, err
	}
	decide, err := prepare(ctx, id.String())
	var a *answer
	if err == nil {
		err = s.sessions.Update(ctx, id.String(), decide, func(v *sessionState) { a = s.current(id, v) })
	}
	if err != nil {
		return workbench.Reply{}, s.publicNamed(in, err)
	}
	return a.reply(), nil
}

// rewind reads the state before the last completed step, and returns the decision to go back to it.
func (s *System) rewind(ctx context.Context, id string) (func(*sessionState) ([]session.Record, error), error) {
	var at, before sessionState
	err := s.sessions.View(ctx, id, func(v *sessionState, events []session.Event) error {
		if at = *v; v.canceled != nil {
			before = *v // it is only opened again
			return nil
		}
		if len(v.done) == 0 {
			return failure(workrailcode.PreconditionFailed, "No step of this session is completed, so none can be done again.",
				"Continue with the pending step, which resume_session shows.", map[string]any{"kind": "nothing_to_rewind"}, nil)
		}
		for _, e := range events[:v.done[len(v.done)-1]-1] {
			if err := fold(&before, e); err != nil {
				return err
			}
		}
		return nil
	})
	return func(v *sessionState) ([]session.Record, error) {
		if v.node() != at.node() || !v.updated.Equal(at.updated) {
			return nil, session.ErrLocked // another call was faster
		}
		return []session.Record{{Kind: eventRewound, Data: stepRewound{v.node(), before.next.Path, before.position, before.context, before.next}}}, nil
	}, err
}

// unfit returns the error for a context that an agent must not give: with the answer of a person, or with a value of
// another type than the workflow declares.
func unfit(w *workflow.Workflow, given map[string]any, goOn string) *candor.Error {
	for _, key := range w.PersonKeys() {
		if _, set := given[key]; set {
			return failure(workrailcode.ValidationError, "The context key "+key+" holds the answer of a person, which only the person can give.",
				"Leave "+key+" out of the context and "+goOn+". At the step that asks, the client asks the user, or the answer names a command for the user.",
				map[string]any{"kind": "answer_of_a_person", "key": key}, nil)
		}
	}
	wrong := w.WrongTypes(given)
	if len(wrong) == 0 {
		return nil
	}
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(wrong)) {
		parts = append(parts, "give "+key+" as "+wrong[key])
	}
	return failure(workrailcode.ValidationError, "The context has values of another type than the workflow declares: "+strings.Join(parts, ", ")+".",
		"Correct these values and "+goOn+".", map[string]any{"kind": "context_type", "expected": wrong}, nil)
}

// lacksCapabilities returns the error for a start without the capabilities that a workflow requires.
func lacksCapabilities(w *workflow.Workflow, given map[string]any) *candor.Error {
	known, _ := given[capabilitiesKey].(map[string]any)
	var lacking []string
	for _, c := range w.Capabilities {
		if c.Required && known[c.Name] != true {
			lacking = append(lacking, c.Name)
		}
	}
	if len(lacking) == 0 {
		return nil
	}
	return failure(workrailcode.PreconditionFailed, "The workflow requires capabilities: "+strings.Join(lacking, ", ")+".",
		"If you have them, set context."+capabilitiesKey+" to an object that has true for each of them and call start_workflow again. If not, tell the user that this workflow cannot be done here.",
		map[string]any{"kind": "missing_capabilities", "capabilities": lacking}, nil)
}

// pending returns the pending step, or nil.
func (s *sessionState) pending(w *workflow.Workflow) *workflow.Step {
	p, ok, err := s.position.Pending(w, s.context)
	if err != nil || !ok {
		return nil
	}
	return p.Step
}

// canceledText describes a cancelled session.
func (s *sessionState) canceledText(id token.SessionID) string {
	text := "The session " + id.String() + " is cancelled"
	if s.canceled.Reason != "" {
		text += ": " + oneLine(s.canceled.Reason)
	}
	return text + ". rewind_session opens it again.\n"
}
