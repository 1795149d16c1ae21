package store

import (
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/tasks"
)

// ErrNotFound is returned for a row that does not exist.
var ErrNotFound = errors.New("no such row")

const taskColumns = "id, title, description, status, agent_id, coalesce(parent_id, ''), coalesce(context, ''), result, version, created_at, updated_at"

// InsertTask stores a new task with its dependencies.
func (t *Tx) InsertTask(task *tasks.Task) error {
	_, err := t.exec("INSERT INTO tasks VALUES (?, ?, ?, ?, ?, nullif(?, ''), nullif(?, ''), ?, ?, ?, ?)", task.ID, task.Title, task.Description,
		string(task.Status), task.AgentID, task.ParentID, string(task.Context), task.Result, task.Version, stamp(task.CreatedAt), stamp(task.UpdatedAt))
	if err != nil {
		return err
	}
	for _, on := range task.DependsOn {
		if _, err := t.exec("INSERT INTO task_dependencies VALUES (?, ?)", task.ID, on); err != nil {
			return err
		}
	}
	return nil
}

// Task returns a task, or [ErrNotFound].
func (t *Tx) Task(id string) (*tasks.Task, error) {
	task, err := scanTask(t.row("SELECT "+taskColumns+" FROM tasks WHERE id = ?", id))
	if err != nil {
		return nil, err
	}
	task.DependsOn, err = t.dependencies(id)
	return task, err
}

func (t *Tx) dependencies(id string) ([]string, error) {
	return t.ids("SELECT depends_on FROM task_dependencies WHERE task_id = ? ORDER BY depends_on", id)
}

// Unfinished returns the tasks that a task waits for: those of its dependencies that are not DONE.
func (t *Tx) Unfinished(id string) ([]string, error) {
	return t.ids("SELECT d.depends_on FROM task_dependencies d JOIN tasks t ON t.id = d.depends_on WHERE d.task_id = ? AND t.status <> ? ORDER BY d.depends_on", id, string(tasks.Done))
}

// Cancelled returns the dependencies of a task that are CANCELLED and so never become DONE.
func (t *Tx) Cancelled(id string) ([]string, error) {
	return t.ids("SELECT d.depends_on FROM task_dependencies d JOIN tasks t ON t.id = d.depends_on WHERE d.task_id = ? AND t.status = ? ORDER BY d.depends_on", id, string(tasks.Cancelled))
}

// UpdateTask stores a changed task. The caller has read it in this transaction.
func (t *Tx) UpdateTask(task *tasks.Task) error {
	_, err := t.exec("UPDATE tasks SET title = ?, description = ?, status = ?, agent_id = ?, context = nullif(?, ''), result = ?, version = ?, updated_at = ? WHERE id = ?",
		task.Title, task.Description, string(task.Status), task.AgentID, string(task.Context), task.Result, task.Version, stamp(task.UpdatedAt), task.ID)
	return err
}

// TaskIDs returns ids that begin with a prefix.
func (t *Tx) TaskIDs(begin string, limit int) ([]string, error) {
	return t.ids("SELECT id FROM tasks WHERE substr(id, 1, length(?1)) = ?1 ORDER BY rowid LIMIT ?2", begin, limit)
}

// TaskFilter selects tasks. Empty fields select all.
type TaskFilter struct {
	Status   tasks.Status
	AgentID  string
	ParentID string
	After    string // id of the task before the first one
	Limit    int
}

// TaskPage is one page of a list of tasks.
type TaskPage struct {
	Tasks   []tasks.Task
	Damaged []DamagedError // unreadable rows between the tasks, the first [maxDamaged]
	More    bool           // there are more tasks than the limit
}

// maxDamaged is the maximum number of damaged rows in a page.
const maxDamaged = 20

// errPageFull stops the query of a page.
var errPageFull = errors.New("the page is full")

// Tasks returns tasks in the order of their creation. Damaged rows do not count for the limit, so that a list continues
// after them. The error is [ErrNotFound] if After is not the id of a task.
func (t *Tx) Tasks(f TaskFilter) (*TaskPage, error) {
	var c conditions
	if f.After != "" {
		var after int64
		if err := t.row("SELECT rowid FROM tasks WHERE id = ?", f.After).Scan(&after); err != nil {
			return nil, notFound(err)
		}
		c.add("rowid > ?", after)
	}
	c.equal("status", string(f.Status))
	c.equal("agent_id", f.AgentID)
	c.equal("parent_id", f.ParentID)
	page := &TaskPage{Tasks: []tasks.Task{}}
	err := t.rows(func(r *sql.Rows) error { return page.add(r, f.Limit) }, "SELECT "+taskColumns+" FROM tasks"+c.where()+"ORDER BY rowid", c.args...)
	if err != nil && !errors.Is(err, errPageFull) {
		return nil, err
	}
	for i := range page.Tasks {
		if page.Tasks[i].DependsOn, err = t.dependencies(page.Tasks[i].ID); err != nil {
			return nil, err
		}
	}
	return page, nil
}

// add adds the task in a row, or returns errPageFull.
func (p *TaskPage) add(r *sql.Rows, limit int) error {
	if len(p.Tasks) == limit {
		p.More = true
		return errPageFull
	}
	task, err := scanTask(r)
	var damaged *DamagedError
	switch {
	case errors.As(err, &damaged):
		if len(p.Damaged) < maxDamaged {
			p.Damaged = append(p.Damaged, *damaged)
		}
		return nil
	case err != nil:
		return err
	}
	p.Tasks = append(p.Tasks, *task)
	return nil
}

func scanTask(r interface{ Scan(dest ...any) error }) (*tasks.Task, error) {
	var task tasks.Task
	var created, updated, context string
	if err := r.Scan(&task.ID, &task.Title, &task.Description, &task.Status, &task.AgentID, &task.ParentID, &context, &task.Result,
		&task.Version, &created, &updated); err != nil {
		return nil, scanError(err, "tasks", task.ID)
	}
	damaged := func(reason string) (*tasks.Task, error) { return nil, &DamagedError{"tasks", task.ID, reason} }
	if context != "" {
		if task.Context = json.RawMessage(context); !json.Valid(task.Context) {
			return damaged("context is not JSON")
		}
	}
	if !task.Status.Valid() {
		return damaged("status is not one of the state machine")
	}
	var err error
	if task.CreatedAt, err = time.Parse(time.RFC3339Nano, created); err != nil {
		return damaged("created_at is not a time")
	}
	if task.UpdatedAt, err = time.Parse(time.RFC3339Nano, updated); err != nil {
		return damaged("updated_at is not a time")
	}
	return &task, nil
}

func notFound(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return ErrNotFound
	}
	return err
}

func stamp(at time.Time) string { return at.UTC().Format(time.RFC3339Nano) }
