package workrail

import (
	"context"
	"encoding/json"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/run"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/session"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/workflow"
	workrailcode "github.com/candor-mcp/candor/codes/workrail"
	"github.com/candor-mcp/candor/internal/near"
)

const workflowProperty = `"workflowId":{"type":"string","minLength":1,"maxLength":128,"description":"An id from list_workflows."}`

const contextProperty = `"context":{"type":"object","description":"Values that the steps use, such as paths and findings; at most 256 KiB. null removes a key."}`

type startArgs struct {
	Workflow string          `json:"workflowId"`
	Goal     string          `json:"goal"`
	Context  json.RawMessage `json:"context"`
}

func (s *System) startWorkflow() workbench.Tool {
	return workbench.Tool{
		Name: "start_workflow", Title: "Start a workflow",
		About: "Begin a workflow and get its first step with a continueToken. Keep the resumeToken: with it the workflow goes on after an interruption.",
		Input: `{` + workflowProperty + `,
"goal":{"type":"string","maxLength":4096,"description":"What this run is for, in one or two sentences; it is shown when the session is resumed."},
` + contextProperty + `}`,
		Required: []string{"workflowId"},
		Codes:    []candor.Code{workrailcode.NotFound, workrailcode.PreconditionFailed},
		Run:      workbench.Handle(s.start),
	}
}

func (s *System) start(ctx context.Context, _ *workbench.Call, in startArgs) (workbench.Reply, error) {
	w, err := s.workflow(ctx, in.Workflow)
	if err != nil {
		return workbench.Reply{}, err
	}
	given, bad := contextOf("start_workflow", in.Context)
	if bad != nil {
		return workbench.Reply{}, bad
	}
	given = merged(map[string]any{}, given)
	position, err := run.Start(w, given)
	if err != nil {
		return workbench.Reply{}, publicRun(err, "call start_workflow again", map[string]any{})
	}
	next, err := viewOf(w, position, given)
	if err != nil {
		return workbench.Reply{}, publicRun(err, "call start_workflow again", map[string]any{})
	}
	id := newSessionID()
	err = s.snapshots.keepWhile(ctx, w, func() error {
		return s.sessions.Create(id.String(), session.Record{Kind: eventStarted, Data: runStarted{
			Workflow: w.ID, Name: w.Name, Hash: w.Hash(), Goal: in.Goal, Context: given, Position: position, Next: next,
		}})
	})
	if err != nil {
		return workbench.Reply{}, publicStore(err)
	}
	var a *answer
	// The session exists now: an expired deadline must not make the caller start another one.
	err = s.sessions.View(context.WithoutCancel(ctx), id.String(), func(v *sessionState) error {
		a = s.current(id, v)
		return nil
	})
	if err != nil {
		return workbench.Reply{}, publicStore(err)
	}
	reply := a.reply()
	if len(w.Guidance) > 0 {
		reply.Text = append([]string{guidanceText(w)}, reply.Text...)
	}
	return reply, nil
}

// guidanceText returns the guidance for all steps.
func guidanceText(w *workflow.Workflow) string {
	text := "For every step of " + oneLine(w.Name) + ":"
	for _, g := range w.Guidance {
		text += "\n- " + indented(g)
	}
	return text
}

// workflow returns a workflow, or an error that lists similar ids.
func (s *System) workflow(ctx context.Context, id string) (*workflow.Workflow, error) {
	w, ids, unusable, err := s.library.find(ctx, id)
	if err != nil {
		return nil, publicLibrary(err)
	}
	if w == nil {
		details := map[string]any{"workflowId": id}
		if similar := near.Names(id, ids); len(similar) > 0 {
			details["didYouMean"] = similar
		}
		message := "No workflow has this id."
		if len(unusable) > 0 {
			details["unusable"] = unusable[:min(len(unusable), 10)]
			message = "No workflow has this id, or its file has errors, which validate_workflow lists."
		}
		return nil, failure(workrailcode.NotFound, message, "Call list_workflows, which names the workflows and the files with errors, and use an id from its answer.", details, nil)
	}
	return w, nil
}
