package workrail

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/session"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/workflow"
	workrailcode "github.com/candor-mcp/candor/codes/workrail"
	"github.com/candor-mcp/candor/internal/redact"
)

func (s *System) listWorkflows() workbench.Tool {
	return workbench.Tool{
		Name: "list_workflows", Title: "List workflows", ReadOnly: true,
		About: "List the workflows that can be started, with what each is for.",
		Run: workbench.Handle(func(ctx context.Context, _ *workbench.Call, _ struct{}) (workbench.Reply, error) {
			all, err := s.library.all(ctx)
			if err != nil {
				return workbench.Reply{}, publicLibrary(err)
			}
			return listReply(all), nil
		}),
	}
}

// listedWorkflow is a workflow in a list.
type listedWorkflow struct {
	ID          string   `json:"workflowId"`
	Name        string   `json:"name"`
	Version     string   `json:"version,omitempty"`
	Description string   `json:"description,omitempty"`
	Context     []string `json:"requiredContext,omitempty"`
}

func listReply(all []listed) workbench.Reply {
	var b strings.Builder
	found, unusable := []listedWorkflow{}, []string{}
	var shown []string
	for _, f := range all {
		if f.err != nil {
			unusable, shown = append(unusable, f.file), append(shown, workflow.Printable(f.file))
			continue
		}
		w := f.workflow
		one := listedWorkflow{ID: w.ID, Name: w.Name, Version: w.Version, Description: w.Description}
		for _, k := range w.Context {
			if k.Required {
				one.Context = append(one.Context, k.Key)
			}
		}
		found = append(found, one)
		fmt.Fprintf(&b, "- %s: %s", w.ID, oneLine(w.Description))
		if len(one.Context) > 0 {
			fmt.Fprintf(&b, " Needs context: %s.", strings.Join(one.Context, ", "))
		}
		b.WriteByte('\n')
	}
	if len(unusable) > 0 {
		fmt.Fprintf(&b, "Files with errors, which cannot be started: %s. validate_workflow lists the errors.\n", strings.Join(shown, ", "))
	}
	return workbench.Reply{Text: []string{b.String()}, Data: map[string]any{"workflows": found, "unusable": unusable}}
}

type inspectArgs struct {
	Workflow string `json:"workflowId"`
}

func (s *System) inspectWorkflow() workbench.Tool {
	return workbench.Tool{
		Name: "inspect_workflow", Title: "Show a workflow", ReadOnly: true,
		About:    "Show the steps, loops and requirements of a workflow before you start it.",
		Input:    `{` + workflowProperty + `}`,
		Required: []string{"workflowId"},
		Codes:    []candor.Code{workrailcode.NotFound},
		Run: workbench.Handle(func(ctx context.Context, _ *workbench.Call, in inspectArgs) (workbench.Reply, error) {
			w, err := s.workflow(ctx, in.Workflow)
			if err != nil {
				return workbench.Reply{}, err
			}
			text, err := w.JSON()
			if err != nil {
				return workbench.Reply{}, err
			}
			var b strings.Builder
			fmt.Fprintf(&b, "%s (%s)\n%s\n", oneLine(w.Name), w.ID, indented(w.Description))
			writeContextKeys(&b, w.Context)
			outline(&b, w.Steps, "")
			return workbench.Reply{Text: []string{b.String()}, Data: map[string]any{"workflow": json.RawMessage(text), "hash": w.Hash()}}, nil
		}),
	}
}

// writeContextKeys lists the keys that start_workflow requires, then those that are set later.
func writeContextKeys(b *strings.Builder, keys []workflow.ContextKey) {
	for _, k := range keys {
		if k.Required {
			fmt.Fprintf(b, "start_workflow needs the context key %s: %s\n", k.Key, oneLine(k.Description))
		}
	}
	for _, k := range keys {
		if !k.Required {
			fmt.Fprintf(b, "context key %s, set along the way: %s\n", k.Key, oneLine(k.Description))
		}
	}
}

func outline(b *strings.Builder, steps []workflow.Step, indent string) {
	for i := range steps {
		s := &steps[i]
		fmt.Fprintf(b, "%s%d. %s", indent, i+1, s.ID)
		if s.Title != "" {
			fmt.Fprintf(b, ": %s", oneLine(s.Title))
		}
		if s.When != nil {
			b.WriteString(" (only if a condition holds)")
		}
		if s.Loop != nil {
			fmt.Fprintf(b, " (loop: %s, at most %d times)", s.Loop.Kind, s.Loop.MaxIterations)
		}
		b.WriteByte('\n')
		if s.Loop != nil {
			outline(b, s.Loop.Steps, indent+"   ")
		}
	}
}

type validateArgs struct {
	Content string `json:"content"`
	File    string `json:"file"`
}

func (s *System) validateWorkflow() workbench.Tool {
	return workbench.Tool{
		Name: "validate_workflow", Title: "Check a workflow file", ReadOnly: true,
		About: "Check a workflow, given as text or as the name of a file in the workflow folder, and list every problem with line and column.",
		Input: `{"content":{"type":"string","minLength":1,"maxLength":1048576,"description":"The file as text, YAML or JSON."},
"file":{"type":"string","minLength":1,"maxLength":255,"description":"The name of a file in the workflow folder."}}`,
		Codes: []candor.Code{workrailcode.NotFound},
		Run:   workbench.Handle(s.validate),
	}
}

func (s *System) validate(ctx context.Context, _ *workbench.Call, in validateArgs) (workbench.Reply, error) {
	if (in.Content == "") == (in.File == "") {
		return workbench.Reply{}, failure(workrailcode.ValidationError, "Give either content or file.", "", nil, nil)
	}
	name, data := "workflow", []byte(in.Content)
	if in.File != "" {
		var err error
		if name, data, err = s.library.file(ctx, in.File); errors.Is(err, errNotRegular) {
			return validated(nil, []workflow.Problem{{File: in.File, Severity: workflow.SeverityError, Message: "file: " + workflow.NotRegular,
				Hint: "put the file itself into the folder"}}), nil
		} else if err != nil {
			return workbench.Reply{}, failure(workrailcode.NotFound, "The workflow folder has no file of this name.",
				"Call list_workflows, which names files with errors, or give the text as content.", nil, err)
		}
	}
	w, problems := workflow.Check(name, data)
	if w != nil && in.File != "" {
		other, err := s.library.taken(ctx, w.ID, in.File)
		if err != nil {
			return workbench.Reply{}, publicLibrary(err)
		}
		if other != "" {
			w, problems = nil, append(problems, workflow.Problem{File: name, Severity: workflow.SeverityError,
				Message: fmt.Sprintf("the id %s is taken by %s", w.ID, workflow.Printable(other)), Hint: "give one of them another id"})
		}
	}
	return validated(w, problems), nil
}

// validated reports the problems of a workflow. w is nil if the workflow cannot be used.
func validated(w *workflow.Workflow, problems []workflow.Problem) workbench.Reply {
	var b strings.Builder
	if w != nil {
		fmt.Fprintf(&b, "%s is valid: %d steps.\n", w.ID, len(slices.Collect(w.All)))
	} else {
		b.WriteString("It cannot be used:\n")
	}
	for _, p := range problems {
		fmt.Fprintf(&b, "%s\n", p)
	}
	return workbench.Reply{Text: []string{b.String()}, Data: map[string]any{"valid": w != nil, "problems": problems}}
}

func (s *System) sessionHealth() workbench.Tool {
	return workbench.Tool{
		Name: "session_health", Title: "Check a session", ReadOnly: true,
		About: "Check whether the data of a session are valid. It changes nothing and works while another process uses the session.",
		Input: `{` + nameProperties + `}`,
		Codes: sessionCodes,
		Run: workbench.Handle(func(_ context.Context, _ *workbench.Call, in nameArgs) (workbench.Reply, error) {
			id, err := s.named(in)
			if err != nil {
				return workbench.Reply{}, err
			}
			h, err := s.sessions.Health(id.String())
			if err != nil {
				return workbench.Reply{}, s.publicNamed(in, err)
			}
			text := fmt.Sprintf("%s: %s.", h.Kind, soundEvents(h.Events))
			if h.Reason != nil {
				text += fmt.Sprintf(" %s: %s. export_session reads what is left.", h.Reason.Code, h.Reason.Message)
			}
			return workbench.Reply{Text: []string{text}, Data: map[string]any{"sessionId": id.String(), "health": h}}, nil
		}),
	}
}

func (s *System) exportSession() workbench.Tool {
	return workbench.Tool{
		Name: "export_session", Title: "Export a session", ReadOnly: true,
		About: "Read what is recorded in a session, healthy or damaged: its steps with their notes and outputs. It changes nothing.",
		Input: `{` + nameProperties + `}`,
		Codes: sessionCodes,
		Run: workbench.Handle(func(_ context.Context, _ *workbench.Call, in nameArgs) (workbench.Reply, error) {
			id, err := s.named(in)
			if err != nil {
				return workbench.Reply{}, err
			}
			left, err := s.sessions.Salvage(id.String())
			if err != nil {
				return workbench.Reply{}, s.publicNamed(in, err)
			}
			return exportReply(id.String(), left), nil
		}),
	}
}

// maxExported is the maximum size of an exported text; the command line exports everything.
const maxExported = 512 << 10

// exportReply returns as many events as fit, starting with the first, as text and as structured content.
func exportReply(id string, left *session.Salvage) workbench.Reply {
	var b strings.Builder
	fmt.Fprintf(&b, "Session %s, %s: %s, %d more can be read and may be wrong.\n", id, left.Health.Kind, soundEvents(uint64(len(left.Sound))), len(left.Doubtful))
	fits := func(e session.Event, mark string) bool {
		line := fmt.Sprintf("%d %s %s%s %s\n", e.Index, e.At.Format("2006-01-02 15:04:05"), mark, e.Kind, redact.Chars(string(e.Data)))
		if b.Len()+len(line) > maxExported {
			return false
		}
		b.WriteString(line)
		return true
	}
	shown := session.Salvage{Health: left.Health}
	for shown.Sound = left.Sound[:0]; len(shown.Sound) < len(left.Sound) && fits(left.Sound[len(shown.Sound)], ""); {
		shown.Sound = left.Sound[:len(shown.Sound)+1]
	}
	if len(shown.Sound) == len(left.Sound) {
		for len(shown.Doubtful) < len(left.Doubtful) && fits(left.Doubtful[len(shown.Doubtful)].Event, "doubtful ") {
			shown.Doubtful = left.Doubtful[:len(shown.Doubtful)+1]
		}
	}
	if more := len(left.Sound) + len(left.Doubtful) - len(shown.Sound) - len(shown.Doubtful); more > 0 {
		fmt.Fprintf(&b, "… %d more events: candor workbench workrail export %s writes all of them\n", more, id)
	}
	return workbench.Reply{Text: []string{b.String()}, Data: shown}
}
