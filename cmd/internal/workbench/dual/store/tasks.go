package store

import (
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/rules"
)

const taskColumns = "id, title, description, status, agent_id, coalesce(parent_id, ''), coalesce(context, ''), result, version, created_at, updated_at"

// InsertTask stores a new task with its dependencies.
func (t *Tx) InsertTask(task *rules.Task) error {
	err := t.exec("INSERT INTO tasks VALUES (?, ?, ?, ?, ?, nullif(?, ''), nullif(?, ''), ?, ?, ?, ?)", task.ID, task.Title, task.Description,
		string(task.Status), task.AgentID, task.ParentID, string(task.Context), task.Result, task.Version, stamp(task.CreatedAt), stamp(task.UpdatedAt))
	if err != nil {
		return err
	}
	for _, on := range task.DependsOn {
		if err := t.exec("INSERT INTO task_dependencies VALUES (?, ?)", task.ID, on); err != nil {
			return err
		}
	}
	return nil
}

// Task returns a task, or [ErrNotFound].
func (t *Tx) Task(id string) (*rules.Task, error) {
	all, err := t.tasks(" WHERE id = ?", id)
	if err == nil && len(all) == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	return &all[0], nil
}

// Unfinished returns the tasks that a task waits for: those of its dependencies that are not DONE. Those in never are
// CANCELLED.
func (t *Tx) Unfinished(id string) (waiting, never []string, err error) {
	waiting = []string{}
	err = t.rows(func(r *sql.Rows) error {
		var on string
		var status rules.Status
		err := r.Scan(&on, &status)
		waiting = append(waiting, on)
		if status == rules.Cancelled {
			never = append(never, on)
		}
		return err
	}, "SELECT id, status FROM tasks WHERE id IN (SELECT depends_on FROM task_dependencies WHERE task_id = ?) AND status <> ? ORDER BY id", id, string(rules.Done))
	return waiting, never, err
}

// UpdateTask stores a changed task. The caller has read it in this transaction.
func (t *Tx) UpdateTask(task *rules.Task) error {
	return t.exec("UPDATE tasks SET title = ?, description = ?, status = ?, agent_id = ?, context = nullif(?, ''), result = ?, version = ?, updated_at = ? WHERE id = ?",
		task.Title, task.Description, string(task.Status), task.AgentID, string(task.Context), task.Result, task.Version, stamp(task.UpdatedAt), task.ID)
}

// TaskIDs returns ids that begin with a prefix.
func (t *Tx) TaskIDs(begin string, limit int) ([]string, error) {
	return t.ids("SELECT id FROM tasks WHERE substr(id, 1, length(?1)) = ?1 ORDER BY rowid LIMIT ?2", begin, limit)
}

// TaskFilter selects tasks. Empty fields select all.
type TaskFilter struct {
	Status   rules.Status
	AgentID  string
	ParentID string
	After    string // id of the task before the first one
	Limit    int
}

// Tasks returns tasks in the order of their creation. The error is [ErrNotFound] if After is not the id of a task.
func (t *Tx) Tasks(f TaskFilter) ([]rules.Task, error) {
	var c conditions
	if f.After != "" {
		after, err := t.count("SELECT rowid FROM tasks WHERE id = ?", f.After)
		if err != nil {
			return nil, notFound(err)
		}
		c.add("rowid > ?", after)
	}
	c.equal("status", string(f.Status))
	c.equal("agent_id", f.AgentID)
	c.equal("parent_id", f.ParentID)
	return t.tasks(c.where()+"ORDER BY rowid LIMIT ?", append(c.args, f.Limit)...)
}

func (t *Tx) tasks(where string, args ...any) ([]rules.Task, error) {
	all := []rules.Task{}
	err := t.rows(func(r *sql.Rows) error {
		var task rules.Task
		var created, updated, context string
		err := r.Scan(&task.ID, &task.Title, &task.Description, &task.Status, &task.AgentID, &task.ParentID, &context, &task.Result,
			&task.Version, &created, &updated)
		if context != "" {
			task.Context = json.RawMessage(context)
		}
		var err1, err2 error
		task.CreatedAt, err1 = time.Parse(time.RFC3339Nano, created)
		task.UpdatedAt, err2 = time.Parse(time.RFC3339Nano, updated)
		all = append(all, task)
		return errors.Join(err, err1, err2)
	}, "SELECT "+taskColumns+" FROM tasks"+where, args...)
	for i := range all {
		if err == nil {
			all[i].DependsOn, err = t.ids("SELECT depends_on FROM task_dependencies WHERE task_id = ? ORDER BY depends_on", all[i].ID)
		}
	}
	return all, err
}

func stamp(at time.Time) string { return at.UTC().Format(time.RFC3339Nano) }
