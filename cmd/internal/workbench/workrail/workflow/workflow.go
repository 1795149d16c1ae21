package workflow

import "encoding/json"

// Workflow is a procedure: steps in their order, and what they need.
//
// The JSON form of the types in this package is the file format. A Workflow from [Parse] must not be changed.
type Workflow struct {
	ID           string       `json:"id"`
	Name         string       `json:"name"`
	Version      string       `json:"version,omitempty"`
	Description  string       `json:"description,omitempty"`
	Guidance     []string     `json:"guidance,omitempty"` // advice that holds for every step
	Capabilities []Capability `json:"capabilities,omitempty"`
	Context      []ContextKey `json:"context,omitempty"`
	Steps        []Step       `json:"steps"`
}

// Capability is something the agent's environment may or may not offer, such as a shell or access to the web.
type Capability struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Required    bool   `json:"required,omitempty"` // a run cannot start without it
}

// ContextKey declares a key of the context, the JSON object that a run carries from step to step.
type ContextKey struct {
	Key         string `json:"key"`
	Description string `json:"description,omitempty"`
	Required    bool   `json:"required,omitempty"` // must be set when a run starts; other keys are set along the way
}

// Step is one thing to do, or a loop of steps. A step with a Loop has only ID, Title, Requires and When beside it.
type Step struct {
	ID           string     `json:"id"` // unique in the workflow
	Title        string     `json:"title,omitempty"`
	Prompt       string     `json:"prompt,omitempty"` // may contain {{key}}, which is replaced by a value of the context
	Guidance     []string   `json:"guidance,omitempty"`
	Requires     []string   `json:"requires,omitempty"` // keys that must be set before the step begins
	When         *Condition `json:"when,omitempty"`     // the step is skipped unless it holds
	Notes        Notes      `json:"notes,omitempty"`
	Output       *Output    `json:"output,omitempty"`
	Capabilities []string   `json:"capabilities,omitempty"` // names declared by the workflow
	AskUser      *Question  `json:"askUser,omitempty"`
	Loop         *Loop      `json:"loop,omitempty"`
}

// Label returns the title of the step, or its ID if it has none.
func (s *Step) Label() string {
	if s.Title != "" {
		return s.Title
	}
	return s.ID
}

// Notes specifies whether a step is completed with notes on the work done.
type Notes string

// The values of [Notes]. The default is required.
const (
	NotesRequired Notes = "required"
	NotesOptional Notes = "optional"
	NotesNone     Notes = "none"
)

// Output is a JSON value that a step must produce.
type Output struct {
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"schema,omitempty"` // JSON Schema, in canonical form; nil accepts any value
	Optional    bool            `json:"optional,omitempty"`
}

// Question is a question that only a person can answer. The step waits until the context has the answer.
type Question struct {
	Question string `json:"question"`
	Key      string `json:"key"` // context key of the answer
}

// All calls yield for every step of the workflow, those in loops included, in the order of the file. It stops when yield
// returns false. Its type is [iter.Seq], so that it can be ranged over.
func (w *Workflow) All(yield func(*Step) bool) { walk(w.Steps, yield) }

func walk(steps []Step, yield func(*Step) bool) bool {
	for i := range steps {
		s := &steps[i]
		if !yield(s) || s.Loop != nil && !walk(s.Loop.Steps, yield) {
			return false
		}
	}
	return true
}
