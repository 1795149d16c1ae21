package dual

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/reputation"
	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/store"
	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/tasks"
	dualcode "github.com/candor-mcp/candor/codes/dual"
)

type updateArgs struct {
	ID          string          `json:"id"`
	Status      tasks.Status    `json:"status"`
	Title       *string         `json:"title"`
	Description *string         `json:"description"`
	AgentID     *string         `json:"agent_id"`
	Context     json.RawMessage `json:"context"`
	Result      *string         `json:"result"`
}

func (s *System) taskUpdate() workbench.Tool {
	return workbench.Tool{
		Name: "task_update", Title: "Change a task",
		About: "Change the status or other fields of a task and return it. The status changes one step at a time, or to CANCELLED. DONE needs at least one thought record.",
		Input: `{"id":` + property(uuidSchema, "The id of the task.") + `,
"status":` + property(statusSchema, "The new status.") + `,
"title":{"type":"string","minLength":1,"maxLength":200},
"description":{"type":"string","maxLength":16384},
"agent_id":` + property(agentSchema, "Who works on it from now on.") + `,
"context":` + contextSchema + `,
"result":{"type":"string","maxLength":16384,"description":"What came out of it."}}`,
		Required: []string{"id"},
		Codes: []candor.Code{dualcode.NotFound, dualcode.Validation, dualcode.InvalidTransition, dualcode.WritebackRequired,
			dualcode.DBBusy, dualcode.DBFull},
		Run: handle(s.update),
	}
}

func (s *System) update(ctx context.Context, _ *workbench.Call, in updateArgs) (any, error) {
	var t *tasks.Task
	var refused *candor.Error
	err := s.store.Update(ctx, func(tx *store.Tx) (err error) {
		refused = nil
		if t, err = findTask(tx, in.ID); err != nil {
			return err
		}
		var counts reputation.Kind
		if counts, refused, err = s.change(tx, t, in); err != nil {
			return err
		}
		if counts != "" { // a refused update counts as well, and does not change the task
			if err := tx.InsertOutcome(t.AgentID, counts, t.ID, stampNow(s)); err != nil {
				return err
			}
		}
		if refused != nil {
			return nil
		}
		t.Version++
		t.UpdatedAt = s.now().UTC()
		return tx.UpdateTask(t)
	})
	if err == nil && refused != nil {
		return nil, refused
	}
	return t, err
}

// change applies the arguments to a task, or returns why it must not be changed. counts is the resulting outcome for
// its agent.
func (s *System) change(tx *store.Tx, t *tasks.Task, in updateArgs) (counts reputation.Kind, refused *candor.Error, err error) {
	if in.Status == "" {
		return "", in.apply(t), nil
	}
	from := t.Status
	if counts, refused, err = transition(tx, t, in.Status); err != nil || refused != nil {
		return counts, refused, err
	}
	if refused = in.apply(t); refused != nil {
		return "", refused, nil
	}
	t.Status = in.Status
	switch {
	case in.Status == tasks.Done:
		counts = reputation.TaskDone
	case in.Status == tasks.Cancelled && from != tasks.Init:
		counts = reputation.TaskCancelled
	}
	return counts, nil, nil
}

// transition checks a change of status.
func transition(tx *store.Tx, t *tasks.Task, to tasks.Status) (counts reputation.Kind, refused *candor.Error, err error) {
	records, err := tx.CountThoughts(t.ID)
	if err != nil {
		return "", nil, err
	}
	waiting, err := tx.Unfinished(t.ID)
	if err != nil {
		return "", nil, err
	}
	var wrong *tasks.TransitionError
	if errors.As(tasks.CheckTransition(t.Status, to), &wrong) {
		return reputation.InvalidTransition, failure(dualcode.InvalidTransition, fmt.Sprintf("The task cannot change from %s to %s.", t.Status, to),
			map[string]any{"from": t.Status, "to": to, "allowed": wrong.Allowed}), nil
	}
	if to == tasks.Apply && len(waiting) > 0 {
		never, err := tx.Cancelled(t.ID)
		if err != nil {
			return "", nil, err
		}
		details := map[string]any{"from": t.Status, "to": to, "allowed": allowed(t.Status, records, waiting), "waiting_for": waiting}
		if len(never) > 0 {
			details["cancelled"] = never
		}
		return "", failure(dualcode.InvalidTransition, fmt.Sprintf("The task cannot change to %s before the tasks that it depends on are %s.", to, tasks.Done), details), nil
	}
	if to == tasks.Done && records == 0 {
		return reputation.WritebackMissing, failure(dualcode.WritebackRequired, "Writeback required for task "+t.ID+": missing thought_record",
			map[string]any{"missing_fields": []string{"thought_record"}}), nil
	}
	return "", nil, nil
}

// apply sets the other fields of a task, or returns why they are not valid.
func (in *updateArgs) apply(t *tasks.Task) *candor.Error {
	changed := in.Title != nil || in.Description != nil || in.AgentID != nil || in.Context != nil || in.Result != nil
	switch {
	case !changed && in.Status == "":
		return validationFailure([]tasks.FieldError{{Field: "id", Reason: "names the task, and nothing says what to change"}})
	case changed && t.Status.Terminal():
		return validationFailure([]tasks.FieldError{{Field: "id", Reason: "the task is " + string(t.Status) + " and stays as it is"}})
	}
	set(&t.Title, in.Title)
	set(&t.Description, in.Description)
	set(&t.AgentID, in.AgentID)
	set(&t.Result, in.Result)
	if in.Context != nil {
		t.Context = compact(in.Context)
	}
	if wrong := t.Check(); len(wrong) > 0 {
		return validationFailure(wrong)
	}
	return nil
}

func set(to, from *string) {
	if from != nil {
		*to = *from
	}
}

// compact returns JSON without spaces between its parts.
func compact(raw json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	if len(raw) == 0 || json.Compact(&b, raw) != nil {
		return nil
	}
	return b.Bytes()
}
