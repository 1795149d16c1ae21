package dual

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/rules"
	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/store"
	dualcode "github.com/candor-mcp/candor/codes/dual"
)

// The properties that several tools share.
const (
	uuidSchema     = `{"type":"string","pattern":"^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$","examples":["00000000-0000-4000-8000-000000000000"],"description":%q}`
	agentSchema    = `{"type":"string","minLength":1,"maxLength":128,"pattern":"^[A-Za-z0-9][A-Za-z0-9._:@/-]*$","description":%q}`
	sessionSchema  = `{"type":"string","minLength":1,"maxLength":128,"pattern":"^[A-Za-z0-9][A-Za-z0-9._:-]*$","description":%q}`
	limitSchema    = `{"type":"integer","minimum":1,"maximum":200,"description":"How many to return; 50 if not given."}`
	numberSchema   = `{"type":"integer","minimum":0,"maximum":999999999999999,"description":%q}`
	statusSchema   = `{"type":"string","enum":["INIT","GATHER","ANALYZE","PLAN","APPLY","VERIFY","DONE","CANCELLED"],"description":%q}`
	contextSchema  = `{"type":"object","description":"Any JSON object that belongs to the task, at most 64 KiB and 64 levels deep."}`
	defaultEntries = 50
	pageBytes      = 1 << 20 // of the texts in one answer; the others are on the next page
)

func property(schema, about string) string { return fmt.Sprintf(schema, about) }

type createArgs struct {
	Title       string          `json:"title"`
	Description string          `json:"description"`
	AgentID     string          `json:"agent_id"`
	ParentID    string          `json:"parent_id"`
	DependsOn   []string        `json:"depends_on"`
	Context     json.RawMessage `json:"context"`
}

func (s *System) taskCreate() workbench.Tool {
	return workbench.Tool{
		Name: "task_create", Title: "Create a task", About: "Create a task in the status INIT and return it.",
		Input: `{"title":{"type":"string","minLength":1,"maxLength":200,"description":"What is to be done, in one line."},
"description":{"type":"string","maxLength":16384},
"agent_id":` + property(agentSchema, "Who works on it; outcomes count for this agent.") + `,
"parent_id":` + property(uuidSchema, "The task that this one is a part of.") + `,
"depends_on":{"type":"array","maxItems":32,"items":` + property(uuidSchema, "The id of a task.") + `,"description":"Tasks that must be DONE before this one reaches APPLY."},
"context":` + contextSchema + `}`,
		Required: []string{"title"},
		Codes:    []candor.Code{dualcode.Validation, dualcode.DBBusy, dualcode.DBFull},
		Run: handle(func(ctx context.Context, _ *workbench.Call, in createArgs) (any, error) {
			now := time.Now().UTC()
			t := &rules.Task{ID: workbench.NewUUID(), Title: in.Title, Description: in.Description, Status: rules.Init, AgentID: in.AgentID, ParentID: in.ParentID,
				DependsOn: in.DependsOn, Context: compact(in.Context), Version: 1, CreatedAt: now, UpdatedAt: now}
			wrong := t.Check()
			err := s.store.Update(ctx, func(tx *store.Tx) error {
				missing, err := missingTasks(tx, t)
				if err != nil {
					return err
				}
				if wrong = append(wrong, missing...); len(wrong) > 0 {
					return validationFailure(wrong...)
				}
				return tx.InsertTask(t)
			})
			return t, err
		}),
	}
}

// missingTasks returns the references of a task to tasks that do not exist.
func missingTasks(tx *store.Tx, t *rules.Task) (wrong []rules.Issue, err error) {
	check := func(field, id string) {
		if _, failed := tx.Task(id); errors.Is(failed, store.ErrNotFound) {
			wrong = append(wrong, rules.Issue{Path: "/" + field, Message: "no task has the id " + id})
		} else {
			err = errors.Join(err, failed)
		}
	}
	if t.ParentID != "" {
		check("parent_id", t.ParentID)
	}
	for _, id := range t.DependsOn {
		check("depends_on", id)
	}
	return wrong, err
}

// validationFailure is ERR_VALIDATION with all issues.
func validationFailure(wrong ...rules.Issue) *candor.Error {
	message := strings.TrimPrefix(wrong[0].Path, "/") + ": " + wrong[0].Message
	return failure(dualcode.Validation, "The task is not valid: "+message+".", map[string]any{"issues": wrong})
}

type taskArgs struct {
	ID string `json:"id"`
}

func (s *System) taskGet() workbench.Tool {
	return query(s, workbench.Tool{
		Name: "task_get", Title: "Get a task", About: "Return a task.",
		Input: `{"id":` + property(uuidSchema, "The id of the task.") + `}`, Required: []string{"id"}, Codes: []candor.Code{dualcode.NotFound},
	}, func(tx *store.Tx, in taskArgs) (any, error) { return findTask(tx, in.ID) })
}

// findTask returns a task, or ERR_NOT_FOUND.
func findTask(tx *store.Tx, id string) (*rules.Task, error) {
	t, err := tx.Task(id)
	if errors.Is(err, store.ErrNotFound) {
		return nil, failure(dualcode.NotFound, "", nil)
	}
	return t, err
}

type listArgs struct {
	Status   rules.Status `json:"status"`
	AgentID  string       `json:"agent_id"`
	ParentID string       `json:"parent_id"`
	After    string       `json:"after_id"`
	Limit    int          `json:"limit"`
}

func (s *System) taskList() workbench.Tool {
	return query(s, workbench.Tool{
		Name: "task_list", Title: "List tasks", About: "List tasks in the order in which they were created. If more is true, call again with after_id set to the last id.",
		Input: `{"status":` + property(statusSchema, "Only tasks in this status.") + `,
"agent_id":` + property(agentSchema, "Only tasks of this agent.") + `,
"parent_id":` + property(uuidSchema, "Only parts of this task.") + `,
"after_id":` + property(uuidSchema, "Only tasks created after this one.") + `,
"limit":` + limitSchema + `}`,
		Codes: []candor.Code{dualcode.NotFound},
	}, func(tx *store.Tx, in listArgs) (any, error) {
		if in.ParentID != "" {
			if _, err := findTask(tx, in.ParentID); err != nil {
				return nil, err
			}
		}
		limit := cmp.Or(in.Limit, defaultEntries)
		all, err := tx.Tasks(store.TaskFilter{Status: in.Status, AgentID: in.AgentID, ParentID: in.ParentID, After: in.After, Limit: limit + 1})
		if errors.Is(err, store.ErrNotFound) {
			err = failure(dualcode.NotFound, "", nil)
		}
		fits := min(fitting(all), limit)
		return map[string]any{"tasks": all[:fits], "count": fits, "more": fits < len(all)}, err
	})
}

// fitting returns the number of tasks that fit into one answer, at least one.
func fitting(all []rules.Task) int {
	size := 0
	for i := range all {
		if size > pageBytes {
			return i
		}
		size += len(all[i].Description) + len(all[i].Context) + len(all[i].Result)
	}
	return len(all)
}

// actions is the result of task_next_actions.
type actions struct {
	ID      string         `json:"id"`
	Status  rules.Status   `json:"status"`
	Allowed []rules.Status `json:"allowed"` // statuses that task_update accepts now
	Next    []string       `json:"next"`    // suggested actions, in order
	Records int64          `json:"record_count"`
	Waiting []string       `json:"waiting_for,omitempty"` // dependencies that are not DONE
	Never   []string       `json:"cancelled,omitempty"`   // those of Waiting that are CANCELLED
}

func (s *System) taskNextActions() workbench.Tool {
	return query(s, workbench.Tool{
		Name: "task_next_actions", Title: "Next actions of a task", About: "Say what may follow for a task: the statuses that it can change to now, and what is missing.",
		Input: `{"id":` + property(uuidSchema, "The id of the task.") + `}`, Required: []string{"id"}, Codes: []candor.Code{dualcode.NotFound},
	}, func(tx *store.Tx, in taskArgs) (any, error) {
		t, err := findTask(tx, in.ID)
		if err != nil {
			return nil, err
		}
		return nextActions(tx, t)
	})
}

func nextActions(tx *store.Tx, t *rules.Task) (a *actions, err error) {
	a = &actions{ID: t.ID, Status: t.Status, Next: []string{}}
	if a.Records, err = tx.CountThoughts(t.ID); err != nil {
		return nil, err
	}
	if a.Waiting, a.Never, err = tx.Unfinished(t.ID); err != nil {
		return nil, err
	}
	a.Allowed = allowed(t.Status, a.Records, a.Waiting)
	for _, to := range t.Status.Allowed() {
		switch {
		case to == rules.Cancelled:
		case to == rules.Apply && len(a.Never) > 0:
			a.Next = append(a.Next, fmt.Sprintf("The tasks in cancelled never become %s: call task_update with status %s, and create a new task without them.", rules.Done, rules.Cancelled))
		case to == rules.Apply && len(a.Waiting) > 0:
			a.Next = append(a.Next, fmt.Sprintf("Wait until the tasks in waiting_for are %s.", rules.Done))
		case to == rules.Done && a.Records == 0:
			a.Next = append(a.Next, "Record at least one thought with thought_record.", "Then call task_update with status DONE.")
		default:
			a.Next = append(a.Next, fmt.Sprintf("Call task_update with status %s.", to))
		}
	}
	return a, nil
}

// allowed returns the statuses that a task can change to now: those of the state machine, without those with unmet
// requirements.
func allowed(from rules.Status, records int64, waiting []string) []rules.Status {
	return slices.DeleteFunc(from.Allowed(), func(to rules.Status) bool {
		return to == rules.Apply && len(waiting) > 0 || to == rules.Done && records == 0
	})
}

func (s *System) stamp() string { return rules.Stamp(time.Now()) }

type updateArgs struct {
	ID          string          `json:"id"`
	Status      rules.Status    `json:"status"`
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
	var t *rules.Task
	var refused *candor.Error
	err := s.store.Update(ctx, func(tx *store.Tx) (err error) {
		refused = nil
		if t, err = findTask(tx, in.ID); err != nil {
			return err
		}
		var counts rules.Kind
		if counts, refused, err = s.change(tx, t, in); err != nil {
			return err
		}
		if counts != "" { // a refused update counts as well, and does not change the task
			if err := tx.InsertOutcome(t.AgentID, counts, t.ID, s.stamp()); err != nil {
				return err
			}
		}
		if refused != nil {
			return nil
		}
		t.Version++
		t.UpdatedAt = time.Now().UTC()
		return tx.UpdateTask(t)
	})
	if err == nil && refused != nil {
		return nil, refused
	}
	return t, err
}

// change applies the arguments to a task, or returns why it must not be changed. counts is the resulting outcome for
// its agent.
func (s *System) change(tx *store.Tx, t *rules.Task, in updateArgs) (counts rules.Kind, refused *candor.Error, err error) {
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
	case in.Status == rules.Done:
		counts = rules.TaskDone
	case in.Status == rules.Cancelled && from != rules.Init:
		counts = rules.TaskCancelled
	}
	return counts, nil, nil
}

// transition checks a change of status.
func transition(tx *store.Tx, t *rules.Task, to rules.Status) (counts rules.Kind, refused *candor.Error, err error) {
	a, err := nextActions(tx, t)
	if err != nil {
		return "", nil, err
	}
	details := map[string]any{"from": t.Status, "to": to, "allowed": t.Status.Allowed()}
	switch {
	case !slices.Contains(t.Status.Allowed(), to):
		step := "Create another task with task_create: " + string(t.Status) + " is final."
		if next := t.Status.Allowed(); len(next) > 0 {
			step = fmt.Sprintf("Change one step at a time: call task_update with status %s.", next[0])
		}
		return rules.InvalidTransition, advised(dualcode.InvalidTransition, fmt.Sprintf("The task cannot change from %s to %s.", t.Status, to), step, details), nil
	case to == rules.Apply && len(a.Waiting) > 0:
		details["allowed"], details["waiting_for"] = a.Allowed, a.Waiting
		step := fmt.Sprintf("Lead the tasks in waiting_for to %s with task_update first.", rules.Done)
		if len(a.Never) > 0 {
			details["cancelled"] = a.Never
			step = a.Next[0]
		}
		return "", advised(dualcode.InvalidTransition, fmt.Sprintf("The task cannot change to %s before the tasks that it depends on are %s.", to, rules.Done), step, details), nil
	case to == rules.Done && a.Records == 0:
		return rules.WritebackMissing, failure(dualcode.WritebackRequired, "Writeback required for task "+t.ID+": missing thought_record",
			map[string]any{"missing_fields": []string{"thought_record"}}), nil
	}
	return "", nil, nil
}

// apply sets the other fields of a task, or returns why they are not valid.
func (in *updateArgs) apply(t *rules.Task) *candor.Error {
	changed := in.Title != nil || in.Description != nil || in.AgentID != nil || in.Context != nil || in.Result != nil
	switch {
	case !changed && in.Status == "":
		return validationFailure(rules.Issue{Path: "/id", Message: "names the task; no change is given"}).
			With(candor.WithSuggestion("Give the new status, or another field that is to change."))
	case changed && len(t.Status.Allowed()) == 0:
		return validationFailure(rules.Issue{Path: "/id", Message: "the task is " + string(t.Status) + " and cannot be changed"}).
			With(candor.WithSuggestion("Create another task with task_create; this one is final."))
	case in.AgentID != nil && *in.AgentID != t.AgentID && in.Status != "" && len(in.Status.Allowed()) == 0: // the outcome counts for the agent
		return validationFailure(rules.Issue{Path: "/agent_id", Message: "cannot change in the call that sets " + string(in.Status)}).
			With(candor.WithSuggestion("Send the call without agent_id; the outcome counts for the agent that the task has."))
	}
	set(&t.Title, in.Title)
	set(&t.Description, in.Description)
	set(&t.AgentID, in.AgentID)
	set(&t.Result, in.Result)
	if in.Context != nil {
		t.Context = compact(in.Context)
	}
	if wrong := t.Check(); len(wrong) > 0 {
		return validationFailure(wrong...)
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
