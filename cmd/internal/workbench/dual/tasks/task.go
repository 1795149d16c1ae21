package tasks

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/candor-mcp/candor/internal/wireflaw"
	"github.com/candor-mcp/candor/wire"
)

// Task is a piece of work.
type Task struct {
	ID          string          `json:"id"`
	Title       string          `json:"title"`
	Description string          `json:"description,omitempty"`
	Status      Status          `json:"status"`
	AgentID     string          `json:"agent_id,omitempty"`
	ParentID    string          `json:"parent_id,omitempty"`
	DependsOn   []string        `json:"depends_on,omitempty"`
	Context     json.RawMessage `json:"context,omitempty"` // an object of the caller
	Result      string          `json:"result,omitempty"`
	Version     int64           `json:"version"` // grows with each change
	CreatedAt   time.Time       `json:"created_at"`
	UpdatedAt   time.Time       `json:"updated_at"`
}

// Limits of a task.
const (
	MaxTitle   = 200
	MaxContext = 64 << 10
	MaxResult  = 16 << 10
	// MaxContextDepth is the maximum nesting of a context. An answer may contain it at a depth of about 6, and readers
	// accept 128.
	MaxContextDepth = 64
)

// FieldError is the error for a field that makes a task invalid although the schema accepts it.
type FieldError struct {
	Field  string `json:"path"`
	Reason string `json:"message"`
}

// Error names the field.
func (e *FieldError) Error() string { return e.Field + ": " + e.Reason }

// Check returns the invalid fields of a new task. It does not check references to other tasks.
func (t *Task) Check() []FieldError {
	var wrong []FieldError
	add := func(field, format string, args ...any) {
		wrong = append(wrong, FieldError{field, fmt.Sprintf(format, args...)})
	}
	if strings.TrimSpace(t.Title) == "" {
		add("title", "must not be blank")
	}
	seen := map[string]bool{}
	for _, id := range t.DependsOn {
		if seen[id] {
			add("depends_on", "names %s twice", id)
		}
		seen[id] = true
	}
	if t.ParentID != "" && seen[t.ParentID] {
		add("depends_on", "names the parent; a task waits for its dependencies, and the parent for the task")
	}
	if len(t.Context) > MaxContext {
		add("context", "has %d bytes, at most %d are accepted", len(t.Context), MaxContext)
	}
	if _, err := wire.ParseValue(t.Context, wire.Limits{MaxDepth: MaxContextDepth}); errors.Is(err, wire.Malformation{Flaw: wireflaw.TooDeep}) {
		add("context", "is nested more than %d levels deep", MaxContextDepth)
	}
	return wrong
}
