package dual

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/store"
	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/tasks"
	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/trail"
	dualcode "github.com/candor-mcp/candor/codes/dual"
)

// The properties that several tools share.
const (
	uuidSchema     = `{"type":"string","pattern":"^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$","description":%q}`
	agentSchema    = `{"type":"string","minLength":1,"maxLength":128,"pattern":"^[A-Za-z0-9][A-Za-z0-9._:@/-]*$","description":%q}`
	sessionSchema  = `{"type":"string","minLength":1,"maxLength":128,"pattern":"^[A-Za-z0-9][A-Za-z0-9._:-]*$","description":%q}`
	limitSchema    = `{"type":"integer","minimum":1,"maximum":200,"description":"How many to return; 50 if not given."}`
	statusSchema   = `{"type":"string","enum":["INIT","GATHER","ANALYZE","PLAN","APPLY","VERIFY","DONE","CANCELLED"],"description":%q}`
	contextSchema  = `{"type":"object","description":"Any JSON object that belongs to the task, at most 64 KiB and 64 levels deep."}`
	defaultEntries = 50
	pageBytes      = 1 << 20 // of the texts in one answer; the others are on the next page
)

func property(schema, about string) string { return fmt.Sprintf(schema, about) }

func orDefault(limit int) int {
	if limit == 0 {
		return defaultEntries
	}
	return limit
}

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
			now := s.now().UTC()
			t := &tasks.Task{ID: workbench.NewUUID(), Title: in.Title, Description: in.Description, Status: tasks.Init, AgentID: in.AgentID, ParentID: in.ParentID,
				DependsOn: in.DependsOn, Context: compact(in.Context), Version: 1, CreatedAt: now, UpdatedAt: now}
			wrong := t.Check()
			err := s.store.Update(ctx, func(tx *store.Tx) error {
				missing, err := missingTasks(tx, t)
				if err != nil {
					return err
				}
				if wrong = append(wrong, missing...); len(wrong) > 0 {
					return validationFailure(wrong)
				}
				return tx.InsertTask(t)
			})
			return t, err
		}),
	}
}

// missingTasks returns the references of a task to tasks that do not exist.
func missingTasks(tx *store.Tx, t *tasks.Task) (wrong []tasks.FieldError, err error) {
	check := func(field, id string) error {
		if _, err := tx.Task(id); errors.Is(err, store.ErrNotFound) {
			wrong = append(wrong, tasks.FieldError{Field: field, Reason: "no task has the id " + id})
		} else if err != nil {
			return err
		}
		return nil
	}
	if t.ParentID != "" {
		if err := check("parent_id", t.ParentID); err != nil {
			return nil, err
		}
	}
	for _, id := range t.DependsOn {
		if err := check("depends_on", id); err != nil {
			return nil, err
		}
	}
	return wrong, nil
}

func validationFailure(wrong []tasks.FieldError) *candor.Error {
	issues := make([]issue, len(wrong))
	for i, w := range wrong {
		issues[i] = issue{"/" + w.Field, w.Reason}
	}
	return failure(dualcode.Validation, "The task is not valid as given: "+wrong[0].Error()+".", map[string]any{"issues": issues})
}

type taskArgs struct {
	ID string `json:"id"`
}

func (s *System) taskGet() workbench.Tool {
	return workbench.Tool{
		Name: "task_get", Title: "Get a task", About: "Return a task.", Input: `{"id":` + property(uuidSchema, "The id of the task.") + `}`, Required: []string{"id"},
		ReadOnly: true, Idempotent: true, Codes: []candor.Code{dualcode.NotFound, dualcode.DBBusy},
		Run: handle(func(ctx context.Context, _ *workbench.Call, in taskArgs) (any, error) {
			return store.Get(ctx, s.store, func(tx *store.Tx) (*tasks.Task, error) { return findTask(tx, in.ID) })
		}),
	}
}

// findTask returns a task, or ERR_NOT_FOUND.
func findTask(tx *store.Tx, id string) (*tasks.Task, error) {
	t, err := tx.Task(id)
	if errors.Is(err, store.ErrNotFound) {
		return nil, failure(dualcode.NotFound, "", nil)
	}
	return t, err
}

type listArgs struct {
	Status   tasks.Status `json:"status"`
	AgentID  string       `json:"agent_id"`
	ParentID string       `json:"parent_id"`
	After    string       `json:"after_id"`
	Limit    int          `json:"limit"`
}

func (s *System) taskList() workbench.Tool {
	return workbench.Tool{
		Name: "task_list", Title: "List tasks", About: "List tasks in the order in which they were created. If more is true, call again with after_id set to the last id.",
		Input: `{"status":` + property(statusSchema, "Only tasks in this status.") + `,
"agent_id":` + property(agentSchema, "Only tasks of this agent.") + `,
"parent_id":` + property(uuidSchema, "Only parts of this task.") + `,
"after_id":` + property(uuidSchema, "Only tasks created after this one.") + `,
"limit":` + limitSchema + `}`,
		ReadOnly: true, Idempotent: true, Codes: []candor.Code{dualcode.NotFound, dualcode.DBBusy},
		Run: handle(func(ctx context.Context, _ *workbench.Call, in listArgs) (any, error) {
			var page *store.TaskPage
			err := s.store.View(ctx, func(tx *store.Tx) (err error) {
				if in.ParentID != "" {
					if _, err := findTask(tx, in.ParentID); err != nil {
						return err
					}
				}
				page, err = tx.Tasks(store.TaskFilter{Status: in.Status, AgentID: in.AgentID, ParentID: in.ParentID, After: in.After, Limit: orDefault(in.Limit)})
				if errors.Is(err, store.ErrNotFound) {
					return failure(dualcode.NotFound, "", nil)
				}
				return err
			})
			if err != nil {
				return nil, err
			}
			all, more := page.Tasks, page.More
			if fits := fitting(all); fits < len(all) {
				all, more = all[:fits], true
			}
			list := map[string]any{"tasks": all, "count": len(all), "more": more}
			if len(page.Damaged) > 0 {
				list["damaged"] = page.Damaged
			}
			return list, nil
		}),
	}
}

// fitting returns the number of tasks that fit into one answer, at least one.
func fitting(all []tasks.Task) int {
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
	Status  tasks.Status   `json:"status"`
	Allowed []tasks.Status `json:"allowed"` // statuses that task_update accepts now
	Next    []string       `json:"next"`    // suggested actions, in order
	Records int64          `json:"record_count"`
	Waiting []string       `json:"waiting_for,omitempty"` // dependencies that are not DONE
	Never   []string       `json:"cancelled,omitempty"`   // those of Waiting that are CANCELLED
}

func (s *System) taskNextActions() workbench.Tool {
	return workbench.Tool{
		Name: "task_next_actions", Title: "Next actions of a task", About: "Say what may follow for a task: the statuses that it can change to now, and what is missing.",
		Input: `{"id":` + property(uuidSchema, "The id of the task.") + `}`, Required: []string{"id"},
		ReadOnly: true, Idempotent: true, Codes: []candor.Code{dualcode.NotFound, dualcode.DBBusy},
		Run: handle(func(ctx context.Context, _ *workbench.Call, in taskArgs) (any, error) {
			return store.Get(ctx, s.store, func(tx *store.Tx) (*actions, error) { return nextActions(tx, in.ID) })
		}),
	}
}

func nextActions(tx *store.Tx, id string) (*actions, error) {
	t, err := findTask(tx, id)
	if err != nil {
		return nil, err
	}
	a := &actions{ID: t.ID, Status: t.Status, Next: []string{}}
	if a.Records, err = tx.CountThoughts(id); err != nil {
		return nil, err
	}
	if a.Waiting, err = tx.Unfinished(id); err != nil {
		return nil, err
	}
	if a.Never, err = tx.Cancelled(id); err != nil {
		return nil, err
	}
	a.Allowed = allowed(t.Status, a.Records, a.Waiting)
	for _, to := range t.Status.Allowed() {
		switch {
		case to == tasks.Cancelled:
		case to == tasks.Apply && len(a.Never) > 0:
			a.Next = append(a.Next, fmt.Sprintf("The tasks in cancelled never become %s: call task_update with status %s, and create a new task without them.", tasks.Done, tasks.Cancelled))
		case to == tasks.Apply && len(a.Waiting) > 0:
			a.Next = append(a.Next, fmt.Sprintf("Wait until the tasks in waiting_for are %s.", tasks.Done))
		case to == tasks.Done && a.Records == 0:
			a.Next = append(a.Next, "Record at least one thought with thought_record.", "Then call task_update with status DONE.")
		default:
			a.Next = append(a.Next, fmt.Sprintf("Call task_update with status %s.", to))
		}
	}
	return a, nil
}

// allowed returns the statuses that a task can change to now: those of the state machine, without those whose
// requirements are not met.
func allowed(from tasks.Status, records int64, waiting []string) []tasks.Status {
	now := []tasks.Status{}
	for _, to := range from.Allowed() {
		if to == tasks.Apply && len(waiting) > 0 || to == tasks.Done && records == 0 {
			continue
		}
		now = append(now, to)
	}
	return now
}

func stampNow(s *System) string { return trail.Stamp(s.now()) }
