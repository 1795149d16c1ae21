// Package rules has the rules of the system: the statuses of tasks, the chains of thought records, the roots of audit
// sessions, rounds of votes, and reputation. It does no I/O.
package rules

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/candor-mcp/candor/internal/wireflaw"
	"github.com/candor-mcp/candor/wire"
)

// Status is the status of a task.
type Status string

// The statuses. A task is created in Init and ends in Done or Cancelled.
const (
	Init      Status = "INIT"
	Gather    Status = "GATHER"
	Analyze   Status = "ANALYZE"
	Plan      Status = "PLAN"
	Apply     Status = "APPLY"
	Verify    Status = "VERIFY"
	Done      Status = "DONE"
	Cancelled Status = "CANCELLED"
)

// next maps each status to the one after it.
var next = map[Status]Status{Init: Gather, Gather: Analyze, Analyze: Plan, Plan: Apply, Apply: Verify, Verify: Done}

// Allowed returns the statuses that a task in s may change to: the next one, and Cancelled while it has not ended.
// It is empty, not nil, for a task that has ended.
func (s Status) Allowed() []Status {
	forward, ok := next[s]
	if !ok {
		return []Status{}
	}
	return []Status{forward, Cancelled}
}

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

// Limits of the context of a task. An answer may contain it at a depth of about 6, and readers accept 128.
const (
	MaxContext      = 64 << 10
	MaxContextDepth = 64
)

// Issue is a wrong argument, or a field that makes a task invalid although the schema accepts it.
type Issue struct {
	Path    string `json:"path"` // a JSON pointer
	Message string `json:"message"`
}

// Check returns the invalid fields of a task. It does not check references to other tasks.
func (t *Task) Check() []Issue {
	var wrong []Issue
	add := func(field, format string, args ...any) {
		wrong = append(wrong, Issue{"/" + field, fmt.Sprintf(format, args...)})
	}
	if Blank(t.Title) {
		add("title", "must not be blank")
	}
	for i, id := range t.DependsOn {
		if slices.Contains(t.DependsOn[:i], id) {
			add("depends_on", "names %s twice", id)
		}
	}
	if t.ParentID != "" && slices.Contains(t.DependsOn, t.ParentID) {
		add("depends_on", "names the parent; a task waits for its dependencies, and the parent for the task")
	}
	if len(t.Context) > MaxContext {
		add("context", "has %d bytes, at most %d are accepted", len(t.Context), MaxContext)
	}
	if v, err := wire.ParseValue(t.Context, wire.Limits{MaxDepth: MaxContextDepth}); errors.Is(err, wire.Malformation{Flaw: wireflaw.TooDeep}) {
		add("context", "is nested more than %d levels deep", MaxContextDepth)
	} else if err == nil && hasHugeNumber(v) {
		add("context", "has a number beyond ±1.7e308, which many readers of JSON cannot hold; send it as text")
	}
	return wrong
}

// hasHugeNumber reports whether a value has a number that a float64 cannot hold. Some readers refuse the whole text with such a number.
func hasHugeNumber(v wire.Value) bool {
	switch v.Type() {
	case wire.TypeNumber:
		_, err := strconv.ParseFloat(string(v.Raw()), 64)
		return err != nil
	case wire.TypeArray:
		for item := range v.Elements() {
			if hasHugeNumber(item) {
				return true
			}
		}
	case wire.TypeObject:
		for _, member := range v.Members() {
			if hasHugeNumber(member) {
				return true
			}
		}
	default:
	}
	return false
}

// Blank reports whether a text shows nothing to a reader: it has only spaces, control characters and other invisible characters.
func Blank(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		const brailleBlank = '\u2800'
		return !unicode.In(r, unicode.White_Space, unicode.Z, unicode.Cc, unicode.Cf, unicode.M, unicode.Other_Default_Ignorable_Code_Point) && r != brailleBlank
	})
}
