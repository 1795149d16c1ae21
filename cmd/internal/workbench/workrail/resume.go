package workrail

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/session"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/token"
	workrailcode "github.com/candor-mcp/candor/codes/workrail"
	"github.com/candor-mcp/candor/internal/jsontext"
	"github.com/candor-mcp/candor/internal/redact"
	"github.com/candor-mcp/candor/internal/truncate"
)

// nameArgs name a session.
type nameArgs struct {
	Token     string `json:"resumeToken"`
	SessionID string `json:"sessionId"`
}

const nameProperties = `"resumeToken":{"type":"string","minLength":1,"maxLength":256,"description":"The resumeToken of any answer about the session."},
"sessionId":{"type":"string","pattern":"^[0-9a-f]{16}$","description":"The id of the session, if the token is lost."}`

var sessionCodes = []candor.Code{
	workrailcode.TokenInvalidFormat, workrailcode.TokenUnsupportedVersion, workrailcode.TokenBadSignature,
	workrailcode.TokenScopeMismatch, workrailcode.TokenUnknownNode, workrailcode.NotFound,
}

func (s *System) resumeSession() workbench.Tool {
	return workbench.Tool{
		Name: "resume_session", Title: "Resume a session", ReadOnly: true,
		About: "Get the pending step of a session with a token. Without a token and an id it lists the latest open sessions, with folder those of a project.",
		Input: `{` + nameProperties + `,
` + folderProperty + `}`,
		Codes: append(slices.Clone(sessionCodes), workrailcode.SessionNotHealthy),
		Run:   workbench.Handle(s.resume),
	}
}

type resumeArgs struct {
	nameArgs
	Folder string `json:"folder"`
}

func (s *System) resume(ctx context.Context, _ *workbench.Call, args resumeArgs) (workbench.Reply, error) {
	in := args.nameArgs
	if in == (nameArgs{}) {
		return s.listOpen(ctx, args.Folder)
	}
	id, err := s.named(in)
	if err != nil {
		return workbench.Reply{}, err
	}
	var reply workbench.Reply
	err = s.sessions.View(ctx, id.String(), func(v *sessionState, events []session.Event) (err error) {
		a := s.current(id, v)
		if a.Earlier, err = v.earlier(events); err == nil {
			reply = s.resumed(a, v)
		}
		return err
	})
	if err != nil {
		return workbench.Reply{}, s.publicNamed(in, err)
	}
	return reply, nil
}

// resumed renders an answer for an agent that does not know the session.
func (s *System) resumed(a *answer, v *sessionState) workbench.Reply {
	a.resumed = true
	if a.Kind == kindBlocked {
		a.Note = resumedNote
	}
	var before []string
	if v.start.Goal != "" {
		before = append(before, "The goal of this session: "+oneLine(v.start.Goal))
	}
	if w, err := s.snapshot(v.start.Hash); err != nil {
		before = append(before, "The guidance for all steps is not shown: the stored copy of this session's workflow cannot be read.")
	} else if len(w.Guidance) > 0 {
		a.Guidance = w.Guidance
		before = append(before, guidanceText(w))
	}
	if text := a.Earlier.text(); text != "" {
		before = append(before, text)
	}
	reply := a.reply()
	reply.Text = append(before, reply.Text...)
	return reply
}

// named returns the session that a call names.
func (s *System) named(in nameArgs) (token.SessionID, error) {
	if in == (nameArgs{}) {
		return token.SessionID{}, failure(workrailcode.ValidationError, "Give resumeToken or sessionId.", "Call resume_session without arguments to list the sessions.", nil, nil)
	}
	if in.Token == "" {
		id, ok := token.ParseSessionID(in.SessionID)
		if !ok {
			return id, noSession()
		}
		return id, nil
	}
	t, err := s.key.Parse(in.Token, token.Resume)
	if err != nil {
		return t.Session, public(err)
	}
	if in.SessionID != "" && in.SessionID != t.Session.String() {
		return t.Session, failure(workrailcode.TokenScopeMismatch, "The token belongs to another session.", "Give the token alone, or the id alone.",
			map[string]any{"tokenErrorCode": workrailcode.TokenScopeMismatch.Symbol(), "reason": "other_session", "expected": "a token of the session that sessionId names"}, nil)
	}
	return t.Session, nil
}

// publicNamed distinguishes an unknown id from a token of a removed session.
func (s *System) publicNamed(in nameArgs, err error) *candor.Error {
	e := public(err)
	if e.Code() == workrailcode.TokenUnknownNode && in.Token == "" {
		return noSession()
	}
	return e
}

func noSession() *candor.Error {
	return failure(workrailcode.NotFound, "No session has this id.", "Call resume_session without arguments to list the sessions.", nil, nil)
}

// blockedText returns the note in a list that the last attempt at the pending step was blocked.
func (m *Info) blockedText() string {
	if len(m.Blocked) == 0 {
		return ""
	}
	return ", blocked by " + strings.Join(slices.Compact(slices.Clone(m.Blocked)), " and ")
}

// The limits of the list of open sessions, because there may be thousands.
const (
	maxListed = 20
	maxRead   = 500
)

// open returns the most recently changed sessions that are not completed, and the number of older sessions that were
// not examined.
func (s *System) open(ctx context.Context, folder string) (found []Info, older int, err error) {
	ids, err := s.sessions.Recent()
	if err != nil {
		return nil, 0, err
	}
	found = []Info{}
	for i, id := range ids {
		if len(found) == maxListed || i == maxRead {
			return found, len(ids) - i, nil
		}
		m, err := s.Session(ctx, id)
		if errors.Is(err, session.ErrNotFound) { // it was removed meanwhile
			continue
		}
		if err != nil {
			return nil, 0, err
		}
		if m.State != StateCompleted && m.State != StateCanceled && (folder == "" || m.Folder == folder) {
			found = append(found, m)
		}
	}
	return found, 0, nil
}

// cleaned returns a folder without a slash at its end.
func cleaned(folder string) string {
	if folder == "" {
		return ""
	}
	return path.Clean(filepath.ToSlash(folder))
}

func (s *System) listOpen(ctx context.Context, folder string) (workbench.Reply, error) {
	open, older, err := s.open(ctx, cleaned(folder))
	if err != nil {
		return workbench.Reply{}, public(err)
	}
	var b strings.Builder
	if len(open) == 0 {
		b.WriteString("No session is open. Call list_workflows and start_workflow to begin one.")
	}
	for i := range open {
		m := &open[i]
		if id, ok := token.ParseSessionID(m.ID); ok && m.Health == session.Healthy {
			m.Resume = s.key.Mint(token.Token{Kind: token.Resume, Session: id})
		}
		fmt.Fprintf(&b, "- %s: %s at step %s%s, %d completed, last changed %s\n", m.ID, m.Workflow, m.Step, m.blockedText(), m.Completed, m.Updated.Format(time.RFC3339))
		if m.Goal != "" {
			fmt.Fprintf(&b, "  goal: %s\n", oneLine(m.Goal))
		}
		if m.Folder != "" && folder == "" {
			fmt.Fprintf(&b, "  folder: %s\n", oneLine(m.Folder))
		}
		if m.Resume != "" {
			fmt.Fprintf(&b, "  resumeToken: %s\n", m.Resume)
		} else {
			fmt.Fprintf(&b, "  not healthy (%s): session_health gives the reason, export_session returns what can be read\n", m.Health)
		}
	}
	if older > 0 {
		fmt.Fprintf(&b, "and %d older sessions: resume one with its resumeToken\n", older)
	}
	return workbench.Reply{Text: []string{b.String()}, Data: map[string]any{"sessions": open, "older": older}}, nil
}

// The budget of the earlier steps in resume_session, in bytes. export_session returns everything.
const (
	maxEarlierBytes   = 6 << 10
	maxEarlierContext = 2 << 10
	maxEarlierNotes   = 2 << 10 // of one step
	maxEarlierOutput  = 512     // of one step
	maxEarlierValue   = 200     // of one key of the context
)

// earlier summarizes the earlier steps of a session for an agent that resumes it.
type earlier struct {
	Steps       []earlierStep  `json:"steps,omitempty"` // the latest, in order
	LeftOut     int            `json:"stepsLeftOut,omitempty"`
	Context     []earlierValue `json:"context,omitempty"`
	KeysLeftOut int            `json:"keysLeftOut,omitempty"`
}

// earlierStep is a completed step. Long texts are shortened.
type earlierStep struct {
	Path   string `json:"path"`
	Notes  string `json:"notes,omitempty"`
	Output string `json:"output,omitempty"` // as JSON text
}

// earlierValue is a key of the context with its value as JSON text, which may be shortened.
type earlierValue struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// earlier summarizes the latest completed steps of a session, as many as fit.
func (s *sessionState) earlier(events []session.Event) (*earlier, error) {
	e := &earlier{LeftOut: len(s.done)}
	remaining := maxEarlierBytes
	for _, event := range slices.Backward(s.done) {
		var done stepAdvanced
		if err := json.Unmarshal(events[event-1].Data, &done); err != nil {
			return nil, err
		}
		step := earlierStep{Path: done.Step, Notes: shortened(done.Notes, maxEarlierNotes), Output: shortened(string(done.Output), maxEarlierOutput)}
		if remaining -= len(step.text()); remaining < 0 {
			break
		}
		e.Steps = append(e.Steps, step)
		e.LeftOut--
	}
	slices.Reverse(e.Steps)
	e.addContext(s.context)
	return e, nil
}

func (e *earlier) addContext(values map[string]any) {
	remaining := maxEarlierContext
	for _, key := range slices.Sorted(maps.Keys(values)) {
		text, err := jsontext.AppendCanonical(nil, values[key])
		if err != nil {
			text = []byte("(not shown)")
		}
		one := earlierValue{key, shortened(string(text), maxEarlierValue)}
		if len(one.text()) > remaining {
			e.KeysLeftOut++
			continue
		}
		remaining -= len(one.text())
		e.Context = append(e.Context, one)
	}
}

// shortened truncates a text to limit bytes and marks the cut.
func shortened(text string, limit int) string {
	return truncate.WithMark(text, limit, " … (shortened)")
}

func (s earlierStep) text() string {
	text := "- " + s.Path
	if s.Notes != "" {
		text += ": " + quotedLines(s.Notes)
	}
	if s.Output != "" {
		text += "\n  output: " + oneLine(s.Output)
	}
	return text + "\n"
}

func (v earlierValue) text() string {
	key := oneLine(v.Key)
	if strings.ContainsAny(key, " :") { // it could look like a line of the server
		key = strconv.QuoteToGraphic(key)
	}
	return "- " + key + " = " + oneLine(v.Value) + "\n"
}

// quotedLines marks all lines of the notes except the first, so that none looks like a line of the server.
func quotedLines(text string) string {
	return strings.ReplaceAll(strings.TrimSpace(redact.Chars(text)), "\n", "\n  | ")
}

// text returns the summary for a model, "" if it is empty.
func (e *earlier) text() string {
	var b strings.Builder
	if len(e.Steps)+e.LeftOut > 0 {
		b.WriteString("Completed steps, with their notes:\n")
		if e.LeftOut > 0 {
			fmt.Fprintf(&b, "(%d earlier left out; export_session has everything)\n", e.LeftOut)
		}
		for _, step := range e.Steps {
			b.WriteString(step.text())
		}
	}
	if len(e.Context)+e.KeysLeftOut > 0 {
		b.WriteString("The context so far:\n")
		for _, value := range e.Context {
			b.WriteString(value.text())
		}
		if e.KeysLeftOut > 0 {
			fmt.Fprintf(&b, "(%d keys left out; export_session has everything)\n", e.KeysLeftOut)
		}
	}
	return b.String()
}
