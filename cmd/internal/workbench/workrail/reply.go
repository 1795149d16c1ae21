package workrail

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/run"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/session"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/token"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/workflow"
	"github.com/candor-mcp/candor/internal/redact"
)

// The kinds of an answer about a session.
const (
	kindStep      = "step"
	kindBlocked   = "blocked"
	kindCompleted = "completed"
	kindCanceled  = "cancelled"
)

// answer is the structured content of start_workflow, continue_workflow and resume_session.
type answer struct {
	Kind      string `json:"kind"`
	SessionID string `json:"sessionId"`
	Workflow  string `json:"workflowId"`
	Completed int    `json:"completedSteps"`

	Step     *stepView `json:"step,omitempty"`
	Continue string    `json:"continueToken,omitempty"`

	Blockers  *report `json:"blockers,omitempty"`
	Retryable bool    `json:"retryable,omitempty"`
	Retry     string  `json:"retryContinueToken,omitempty"`
	Note      string  `json:"note,omitempty"`

	Resume string  `json:"resumeToken"`
	Replay *replay `json:"replay,omitempty"`

	// Only for resume_session.
	Guidance []string `json:"guidance,omitempty"`
	Earlier  *earlier `json:"earlier,omitempty"`

	resumed  bool   // the reader may not know the step
	canceled string // for kindCanceled
}

// Notes of a blocked answer. Only an attempt that completes its step is kept.
const (
	blockedNote = "Nothing of this call was kept: send everything again, with these corrections."
	resumedNote = "The last attempt was blocked and nothing of it was kept: send everything that the step needs, with these corrections."
)

type report struct {
	Blockers []blocker `json:"blockers"`
}

// replay marks the answer to a token that was used before.
type replay struct {
	Recorded bool `json:"recorded"`
	// Differs is set if the notes, output or context of the call differ from the recorded ones. The new ones were not
	// used.
	Differs bool `json:"differs"`
	// Stale is set if the session has advanced since.
	Stale bool `json:"stale,omitempty"`
}

// reply renders an answer as text and as structured content.
func (a *answer) reply() workbench.Reply {
	var b strings.Builder
	if r := a.Replay; r != nil {
		b.WriteString("This token was used before; this is the recorded answer.")
		if r.Differs {
			b.WriteString(" Your call differs from the recorded one: its notes, output and context were NOT used.")
		}
		if r.Stale {
			b.WriteString(" The session has moved on since: call resume_session with the resumeToken for the current step.")
		}
		b.WriteString("\n\n")
	}
	switch a.Kind {
	case kindBlocked:
		a.writeBlocked(&b)
	case kindCompleted:
		fmt.Fprintf(&b, "The workflow %s is completed: %d steps.\n", a.Workflow, a.Completed)
	case kindCanceled:
		b.WriteString(a.canceled)
	default:
		b.WriteString(a.Step.text())
		fmt.Fprintf(&b, "\ncontinueToken: %s\n", a.Continue)
	}
	fmt.Fprintf(&b, "resumeToken: %s\n", a.Resume)
	return workbench.Reply{Text: []string{b.String()}, Data: a}
}

func (a *answer) writeBlocked(b *strings.Builder) {
	if a.resumed {
		b.WriteString(a.Step.text() + "\n")
	}
	fmt.Fprintf(b, "Blocked: the step was not completed. %s %d to do:\n", a.Note, len(a.Blockers.Blockers))
	for _, one := range a.Blockers.Blockers {
		fmt.Fprintf(b, "- %s: %s %s\n", one.Code, one.Message, one.SuggestedFix)
	}
	fmt.Fprintf(b, "\nretryContinueToken: %s\n", a.Retry)
}

// begin returns an answer with the fields that all answers about a session have.
func (s *System) begin(id token.SessionID, v *sessionState) *answer {
	return &answer{SessionID: id.String(), Workflow: v.start.Workflow, Completed: len(v.done),
		Resume: s.key.Mint(token.Token{Kind: token.Resume, Session: id})}
}

// current returns the reply with the position of a session.
func (s *System) current(id token.SessionID, v *sessionState) *answer {
	a := s.begin(id, v)
	next := token.Token{Kind: token.Continue, Session: id, Node: v.node(), Attempt: uint16(len(v.blocked))} //nolint:gosec // bounded by maxBlocked
	switch {
	case v.canceled != nil:
		a.Kind, a.canceled = kindCanceled, v.canceledText(id)
	case v.completed():
		a.Kind = kindCompleted
	case len(v.blocked) > 0:
		a.Kind, a.Step = kindBlocked, v.next
		a.Blockers, a.Retryable, a.Retry, a.Note = &report{v.blockers}, true, s.key.Mint(next), blockedNote
	default:
		a.Kind, a.Step, a.Continue = kindStep, v.next, s.key.Mint(next)
	}
	return a
}

// recorded returns the answer that was recorded for an earlier attempt.
func (s *System) recorded(id token.SessionID, v *sessionState, events []session.Event, t token.Token, o outcome, digest string) (*answer, error) {
	a := s.begin(id, v)
	a.Replay = &replay{Recorded: true, Differs: o.digest != digest}
	e := events[o.event-1]
	if e.Kind == eventBlocked {
		var b stepBlocked
		if err := json.Unmarshal(e.Data, &b); err != nil {
			return nil, err
		}
		if a.Completed = 0; b.Node > 0 {
			a.Completed = v.nodes[b.Node-1].completed
		}
		a.Kind, a.Blockers, a.Retryable, a.Note = kindBlocked, &report{b.Blockers}, true, blockedNote
		a.Retry = s.key.Mint(token.Token{Kind: token.Continue, Session: id, Node: t.Node, Attempt: t.Attempt + 1})
		a.Replay.Stale = v.node() > t.Node || len(v.blocked) > int(t.Attempt)+1
		var err error
		a.Step, err = v.stepAt(events, t.Node)
		return a, err
	}
	next, err := v.stepAt(events, t.Node+1)
	if err != nil {
		return nil, err
	}
	a.Kind, a.Step, a.Completed = kindCompleted, next, v.nodes[t.Node].completed
	a.Replay.Stale = v.node() > t.Node+1 || len(v.blocked) > 0 || v.canceled != nil
	if next != nil {
		a.Kind = kindStep
		a.Continue = s.key.Mint(token.Token{Kind: token.Continue, Session: id, Node: t.Node + 1})
	}
	return a, nil
}

// stepAt returns the step that was pending at a node, nil at the end.
func (s *sessionState) stepAt(events []session.Event, node uint32) (*stepView, error) {
	if node == 0 {
		return s.start.Next, nil
	}
	var done stepAdvanced
	err := json.Unmarshal(events[s.nodes[node-1].done.event-1].Data, &done)
	return done.Next, err
}

// stepView is a step as shown to an agent. It is recorded with the event that led to it, so that it never changes.
type stepView struct {
	ID        string        `json:"id"`
	Path      string        `json:"path"` // with the iterations of the loops around it
	Title     string        `json:"title,omitempty"`
	Prompt    string        `json:"prompt"`
	Guidance  []string      `json:"guidance,omitempty"`
	Iteration int           `json:"iteration,omitempty"`
	Total     int           `json:"total,omitempty"`
	Most      int           `json:"maxIterations,omitempty"` // if a condition decides
	Repeats   string        `json:"repeats,omitempty"`       // the condition
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
	if l := pending.Loop; l != nil && v.Total == 0 {
		v.Most, v.Repeats = l.MaxIterations, repeats(l)
	}
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

// repeats describes what decides about the next iteration of a loop.
func repeats(l *workflow.Loop) string {
	switch {
	case l.While != nil:
		return "while " + l.While.String()
	case l.Until != nil:
		return "until " + l.Until.String()
	case l.Times != nil && l.Times.Key != "":
		return "as often as " + l.Times.Key + " says"
	case l.Times != nil:
		return fmt.Sprintf("%d times", l.Times.N)
	}
	return "for each " + l.As + " of " + l.Each
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
	} else if v.Most > 0 {
		fmt.Fprintf(&b, " (%d of at most %d, repeated %s)", v.Iteration, v.Most, oneLine(v.Repeats))
	}
	fmt.Fprintf(&b, "\n\n%s\n", strings.TrimSpace(redact.Chars(v.Prompt)))
	for _, g := range v.Guidance {
		fmt.Fprintf(&b, "- %s\n", indented(g))
	}
	if lines := v.Needs.lines(); len(lines) > 0 {
		b.WriteString("\nTo complete it, continue_workflow needs:\n- " + strings.Join(lines, "\n- ") + "\n")
	}
	return b.String()
}

// lines returns the requirements.
func (n *requirements) lines() []string {
	if n == nil {
		return nil
	}
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
		lines = append(lines, "an answer that only the user can give, to: "+oneLine(n.Question)+" Do not set context."+n.AnswerKey+" yourself: call continue_workflow, and the client asks the user, or the answer says how")
	}
	if len(n.Capabilities) > 0 {
		lines = append(lines, "context."+capabilitiesKey+", once per session: an object that says for each of "+strings.Join(n.Capabilities, ", ")+" whether you have it, true or false")
	}
	return lines
}

// Third-party text is shown to models next to lines of this server and must not look like one of them: it has no
// invisible or control characters, and its line breaks are kept only where the server indents the lines.

// oneLine returns a text on one line, without invisible and control characters.
func oneLine(text string) string {
	text = redact.Chars(text)
	if !strings.ContainsAny(text, "\n\t") {
		return text
	}
	return strings.Join(strings.Fields(text), " ")
}

// indented returns a text with all lines except the first indented.
func indented(text string) string {
	return strings.ReplaceAll(strings.TrimSpace(redact.Chars(text)), "\n", "\n  ")
}
