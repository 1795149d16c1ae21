package workrail

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/run"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/workflow"
	"github.com/candor-mcp/candor/internal/redact"
)

// stepView is a step as shown to an agent. It is recorded with the event that led to it, so that it never changes.
type stepView struct {
	ID        string        `json:"id"`
	Path      string        `json:"path"` // with the iterations of the loops around it
	Title     string        `json:"title,omitempty"`
	Prompt    string        `json:"prompt"`
	Guidance  []string      `json:"guidance,omitempty"`
	Iteration int           `json:"iteration,omitempty"`
	Total     int           `json:"total,omitempty"`
	Needs     *requirements `json:"needs,omitempty"`
}

// requirements lists what continue_workflow must provide to complete a step.
type requirements struct {
	Notes        string          `json:"notes,omitempty"` // required, or optional; empty is none
	Output       json.RawMessage `json:"output,omitempty"`
	OutputAbout  string          `json:"outputDescription,omitempty"`
	Optional     bool            `json:"outputOptional,omitempty"`
	Context      []string        `json:"contextKeys,omitempty"`  // keys that are not set yet
	Capabilities []string        `json:"capabilities,omitempty"` // must be available
	Question     string          `json:"askUser,omitempty"`
	AnswerKey    string          `json:"answerKey,omitempty"`
}

// viewOf returns the pending step of a run, nil if the run is completed.
func viewOf(w *workflow.Workflow, p run.Position, context map[string]any) (*stepView, error) {
	pending, ok, err := p.Pending(w, context)
	if err != nil || !ok {
		return nil, err
	}
	s := pending.Step
	v := &stepView{ID: s.ID, Path: pending.Path, Title: s.Label(), Prompt: pending.Prompt, Guidance: s.Guidance,
		Iteration: pending.Iteration, Total: pending.Total, Needs: &requirements{Context: pending.MissingKeys, Capabilities: s.Capabilities}}
	if s.Notes != workflow.NotesNone {
		v.Needs.Notes = string(s.Notes)
	}
	if s.Output != nil {
		v.Needs.Output, v.Needs.OutputAbout, v.Needs.Optional = s.Output.Schema, s.Output.Description, s.Output.Optional
	}
	if s.AskUser != nil {
		v.Needs.Question, v.Needs.AnswerKey = pending.Question, s.AskUser.Key
	}
	return v, nil
}

// text returns the step as text for a model.
func (v *stepView) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Step %s", v.Path)
	if v.Title != "" && v.Title != v.Path {
		fmt.Fprintf(&b, ": %s", oneLine(v.Title))
	}
	if v.Total > 0 {
		fmt.Fprintf(&b, " (%d of %d)", v.Iteration, v.Total)
	}
	fmt.Fprintf(&b, "\n\n%s\n", strings.TrimSpace(redact.Chars(v.Prompt)))
	for _, g := range v.Guidance {
		fmt.Fprintf(&b, "- %s\n", indented(g))
	}
	if n := v.Needs; n != nil {
		b.WriteString(n.text())
	}
	return b.String()
}

func (n *requirements) text() string {
	lines := n.Lines()
	if len(lines) == 0 {
		return ""
	}
	return "\nTo complete it, continue_workflow needs:\n- " + strings.Join(lines, "\n- ") + "\n"
}

// Lines returns the requirements, one per line.
func (n *requirements) Lines() []string {
	var lines []string
	if n.Notes != "" {
		lines = append(lines, "notes ("+n.Notes+"): what you did and found, for a reader who has not seen this conversation")
	}
	if n.Output != nil || n.OutputAbout != "" {
		line := "output (required)"
		if n.Optional {
			line = "output (optional)"
		}
		if n.OutputAbout != "" {
			line += ": " + oneLine(n.OutputAbout)
		}
		if n.Output != nil {
			line += "; JSON Schema: " + oneLine(string(n.Output))
		}
		lines = append(lines, line)
	}
	if len(n.Context) > 0 {
		lines = append(lines, "context keys that are not set yet: "+strings.Join(n.Context, ", "))
	}
	if n.Question != "" {
		lines = append(lines, "the user's answer in context."+n.AnswerKey+" to: "+oneLine(n.Question))
	}
	if len(n.Capabilities) > 0 {
		lines = append(lines, "context."+capabilitiesKey+", once per session: an object that says for each of "+strings.Join(n.Capabilities, ", ")+" whether you have it, true or false")
	}
	return lines
}
