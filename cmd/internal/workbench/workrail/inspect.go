package workrail

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/session"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/workflow"
	"github.com/candor-mcp/candor/cmd/internal/yamlfile"
	workrailcode "github.com/candor-mcp/candor/codes/workrail"
	"github.com/candor-mcp/candor/internal/redact"
)

func (s *System) listWorkflows() workbench.Tool {
	return workbench.Tool{
		Name: "list_workflows", Title: "List workflows", ReadOnly: true,
		About: "List the workflows that can be started, with what each is for.",
		Run:   workbench.Handle(s.list),
	}
}

// listedWorkflow is a workflow in a list.
type listedWorkflow struct {
	ID          string   `json:"workflowId"`
	Name        string   `json:"name"`
	Version     string   `json:"version,omitempty"`
	Description string   `json:"description,omitempty"`
	Context     []string `json:"requiredContext,omitempty"`
	Abilities   []string `json:"requiredCapabilities,omitempty"`
}

func (s *System) list(ctx context.Context, _ *workbench.Call, _ struct{}) (workbench.Reply, error) {
	all, unusable, err := s.library(ctx)
	if err != nil {
		return workbench.Reply{}, err
	}
	var b strings.Builder
	found := []listedWorkflow{}
	for _, f := range all {
		w := f.workflow
		one := listedWorkflow{ID: w.ID, Name: w.Name, Version: w.Version, Description: w.Description}
		for _, k := range w.Context {
			if k.Required {
				one.Context = append(one.Context, k.Key)
			}
		}
		for _, c := range w.Capabilities {
			if c.Required {
				one.Abilities = append(one.Abilities, c.Name)
			}
		}
		found = append(found, one)
		fmt.Fprintf(&b, "- %s: %s", w.ID, oneLine(w.Description))
		if len(one.Context) > 0 {
			fmt.Fprintf(&b, " Needs context: %s.", strings.Join(one.Context, ", "))
		}
		if len(one.Abilities) > 0 {
			fmt.Fprintf(&b, " Needs context.capabilities, an object with true for: %s.", strings.Join(one.Abilities, ", "))
		}
		b.WriteByte('\n')
	}
	files, shown := []string{}, []string{}
	for _, f := range unusable {
		files, shown = append(files, f.file), append(shown, workflow.Printable(f.file))
	}
	if len(files) > 0 {
		fmt.Fprintf(&b, "Files with errors, which cannot be started: %s. validate_workflow lists the errors.\n", strings.Join(shown, ", "))
	}
	return workbench.Reply{Text: []string{b.String()}, Data: map[string]any{"workflows": found, "unusable": files}}, nil
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
			for _, c := range w.Capabilities {
				fmt.Fprintf(&b, "%s capability %s: %s\n", map[bool]string{true: "required", false: "optional"}[c.Required], c.Name, oneLine(c.Description))
			}
			writeContextKeys(&b, w.Context)
			outline(&b, w.Steps, "")
			return workbench.Reply{Text: []string{b.String()}, Data: map[string]any{"workflow": json.RawMessage(text), "hash": w.Hash()}}, nil
		}),
	}
}

// writeContextKeys lists the keys of the context.
func writeContextKeys(b *strings.Builder, keys []workflow.ContextKey) {
	for _, k := range keys {
		form, about := "context key %s, set in a later step: %s\n", oneLine(k.Description)
		if k.Required {
			form = "start_workflow needs the context key %s: %s\n"
		}
		if k.Type != "" {
			about = strings.TrimSpace("(" + k.Type + ") " + about)
		}
		fmt.Fprintf(b, form, k.Key, about)
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
			fmt.Fprintf(b, " (only if %s)", oneLine(s.When.String()))
		}
		if s.Loop != nil {
			fmt.Fprintf(b, " (repeated %s, at most %d times)", oneLine(repeats(s.Loop)), s.Loop.MaxIterations)
		}
		if needs := needsOf(s); len(needs) > 0 {
			b.WriteString(" (needs " + strings.Join(needs, "; ") + ")")
		}
		b.WriteByte('\n')
		if s.Loop != nil {
			outline(b, s.Loop.Steps, indent+"   ")
		}
	}
}

// needsOf lists what a step needs to be completed.
func needsOf(s *workflow.Step) (needs []string) {
	if s.Loop == nil && s.Notes != workflow.NotesNone {
		needs = append(needs, string(s.Notes)+" notes")
	}
	if s.Output != nil {
		needs = append(needs, "an output")
	}
	if len(s.Requires) > 0 {
		needs = append(needs, "context: "+strings.Join(s.Requires, ", "))
	}
	if len(s.Capabilities) > 0 {
		needs = append(needs, "capabilities: "+strings.Join(s.Capabilities, ", "))
	}
	if s.AskUser != nil {
		needs = append(needs, "the user's answer to: "+oneLine(s.AskUser.Question))
	}
	return needs
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
	if in.Content != "" {
		unlock, err := s.lockParser(ctx)
		if err != nil {
			return workbench.Reply{}, err
		}
		defer unlock()
		return validated(workflow.Check("workflow", []byte(in.Content))), nil
	}
	all, unusable, err := s.library(ctx)
	if err != nil {
		return workbench.Reply{}, err
	}
	for _, f := range append(all, unusable...) {
		if f.file == in.File {
			return validated(f.workflow, f.problems), nil
		}
	}
	return workbench.Reply{}, failure(workrailcode.NotFound, "The workflow folder has no workflow file of this name.",
		"Call list_workflows, which names files with errors, or give the text as content.", nil, nil)
}

// validated reports the problems of a workflow. w is nil if the workflow cannot be used.
func validated(w *workflow.Workflow, problems []yamlfile.Problem) workbench.Reply {
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
	return s.sessionTool("session_health", "Check a session",
		"Check whether the data of a session are valid. It changes nothing and works while another process uses the session.",
		func(id string) (workbench.Reply, error) {
			h, err := s.sessions.Health(id)
			text := fmt.Sprintf("%s, sound events: %d.", h.Kind, h.Events)
			if h.Reason != nil {
				text += fmt.Sprintf(" %s: %s. export_session reads what is left.", h.Reason.Code, h.Reason.Message)
			}
			return workbench.Reply{Text: []string{text}, Data: map[string]any{"sessionId": id, "health": h}}, err
		})
}

func (s *System) exportSession() workbench.Tool {
	return s.sessionTool("export_session", "Export a session",
		"Read what is recorded in a session, healthy or damaged: its steps with their notes and outputs. It changes nothing.",
		func(id string) (workbench.Reply, error) {
			left, err := s.sessions.Salvage(id)
			if err != nil {
				return workbench.Reply{}, err
			}
			return exportReply(id, left), nil
		})
}

// sessionTool returns a tool that reads the files of a session.
func (s *System) sessionTool(name, title, about string, read func(id string) (workbench.Reply, error)) workbench.Tool {
	return workbench.Tool{
		Name: name, Title: title, ReadOnly: true, About: about, Input: `{` + nameProperties + `}`, Codes: sessionCodes,
		Run: workbench.Handle(func(_ context.Context, _ *workbench.Call, in nameArgs) (workbench.Reply, error) {
			id, err := s.named(in)
			if err != nil {
				return workbench.Reply{}, err
			}
			reply, err := read(id.String())
			if err != nil {
				return workbench.Reply{}, s.publicNamed(in, err)
			}
			return reply, nil
		}),
	}
}

// maxExported is the maximum size of an exported text.
const maxExported = 512 << 10

// exportReply returns as many events as fit, starting with the first, as text and as structured content.
func exportReply(id string, left *session.Salvage) workbench.Reply {
	var b strings.Builder
	fmt.Fprintf(&b, "Session %s, %s. Sound events: %d, others that can be read and may be wrong: %d.\n", id, left.Health.Kind, len(left.Sound), len(left.Doubtful))
	fits := func(e session.Event, mark string) bool {
		line := fmt.Sprintf("%d %s %s%s %s\n", e.Index, e.At.Format("2006-01-02 15:04:05"), mark, e.Kind, redact.Chars(string(e.Data)))
		if b.Len()+len(line) > maxExported {
			return false
		}
		b.WriteString(line)
		return true
	}
	sound, doubtful := 0, 0
	for sound < len(left.Sound) && fits(left.Sound[sound], "") {
		sound++
	}
	for sound == len(left.Sound) && doubtful < len(left.Doubtful) && fits(left.Doubtful[doubtful].Event, "doubtful ") {
		doubtful++
	}
	if more := len(left.Sound) + len(left.Doubtful) - sound - doubtful; more > 0 {
		fmt.Fprintf(&b, "… %d more events, in the folder sessions/%s of the state folder\n", more, id)
	}
	return workbench.Reply{Text: []string{b.String()}, Data: session.Salvage{Health: left.Health, Sound: left.Sound[:sound], Doubtful: left.Doubtful[:doubtful]}}
}
