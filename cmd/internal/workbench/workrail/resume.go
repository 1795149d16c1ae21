package workrail

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/session"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/token"
	workrailcode "github.com/candor-mcp/candor/codes/workrail"
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
		About: "Get the pending step of a session with a token. Without arguments it lists the latest sessions that are not completed.",
		Input: `{` + nameProperties + `}`,
		Codes: append(slices.Clone(sessionCodes), workrailcode.SessionNotHealthy),
		Run:   workbench.Handle(s.resume),
	}
}

func (s *System) resume(ctx context.Context, _ *workbench.Call, in nameArgs) (workbench.Reply, error) {
	if in == (nameArgs{}) {
		return s.list(ctx)
	}
	id, err := s.named(in)
	if err != nil {
		return workbench.Reply{}, err
	}
	var a *answer
	var v sessionState
	err = s.sessions.View(ctx, id.String(), func(now *sessionState) error {
		a, v = s.current(id, now), *now
		return nil
	})
	if err == nil {
		a.Earlier, err = s.earlier(ctx, id, &v)
	}
	if err != nil {
		return workbench.Reply{}, s.publicNamed(in, err)
	}
	return s.resumed(a, &v), nil
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
	if w, err := s.snapshots.load(v.start.Hash); err != nil {
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
	if in.Token == "" {
		id, ok := token.ParseSessionID(in.SessionID)
		if !ok {
			return id, failure(workrailcode.NotFound, "No session has this id.", "Call resume_session without arguments to list the sessions.", nil, nil)
		}
		return id, nil
	}
	t, err := s.keys.Parse(in.Token, token.Resume)
	if err != nil {
		return t.Session, publicToken(err)
	}
	if in.SessionID != "" && in.SessionID != t.Session.String() {
		return t.Session, failure(workrailcode.TokenScopeMismatch, "The token belongs to another session.", "Give the token alone, or the id alone.",
			map[string]any{"tokenErrorCode": workrailcode.TokenScopeMismatch.Symbol(), "reason": "other_session", "expected": "a token of the session that sessionId names"}, nil)
	}
	return t.Session, nil
}

// publicNamed distinguishes an unknown id from a token whose session no longer exists.
func (s *System) publicNamed(in nameArgs, err error) *candor.Error {
	e := publicStore(err)
	if e.Code() == workrailcode.TokenUnknownNode && in.Token == "" {
		return failure(workrailcode.NotFound, "No session has this id.", "Call resume_session without arguments to list the sessions.", nil, nil)
	}
	return e
}

// Summary is a session in a list.
type Summary struct {
	ID        string             `json:"sessionId"`
	Workflow  string             `json:"workflowId,omitempty"`
	Goal      string             `json:"goal,omitempty"`
	Step      string             `json:"step,omitempty"` // the path of the pending one; empty if completed
	Completed int                `json:"completedSteps"`
	Blocked   []string           `json:"blockedBy,omitempty"` // codes
	Began     time.Time          `json:"began,omitzero"`
	Updated   time.Time          `json:"updated,omitzero"`
	Health    session.HealthKind `json:"health"`
	Resume    string             `json:"resumeToken,omitempty"`
}

// blockedText returns the note in a list that the last attempt at the pending step was blocked.
func (m *Summary) blockedText() string {
	if len(m.Blocked) == 0 {
		return ""
	}
	return ", blocked by " + strings.Join(slices.Compact(slices.Clone(m.Blocked)), " and ")
}

// unreadable is the health, in a list, of a session whose files cannot be read.
const unreadable session.HealthKind = "unreadable"

func (s *System) summary(ctx context.Context, id string) (Summary, error) {
	m := Summary{ID: id}
	err := s.sessions.View(ctx, id, func(v *sessionState) error {
		m = infoOf(id, v).Summary
		return nil
	})
	if unhealthy, ok := errors.AsType[*session.UnhealthyError](err); ok {
		m.Health = unhealthy.Health.Kind
		return m, nil
	}
	return m, err
}

// The limits of the list of open sessions, because there may be thousands.
const (
	maxListed = 20
	maxRead   = 500
)

// open returns the most recently changed sessions that are not completed, and the number of older sessions that were
// not examined.
func (s *System) open(ctx context.Context) (found []Summary, older int, err error) {
	ids, err := s.sessions.Recent()
	if err != nil {
		return nil, 0, err
	}
	found = []Summary{}
	for i, id := range ids {
		if len(found) == maxListed || i == maxRead {
			return found, len(ids) - i, nil
		}
		m, err := s.summary(ctx, id)
		if errors.Is(err, session.ErrNotFound) { // it was removed meanwhile
			continue
		}
		if ctx.Err() != nil {
			return nil, 0, ctx.Err()
		}
		if err != nil { // the others are not affected
			m.Health = unreadable
		}
		if m.Health != session.Healthy || m.Step != "" {
			found = append(found, m)
		}
	}
	return found, 0, nil
}

func (s *System) list(ctx context.Context) (workbench.Reply, error) {
	open, older, err := s.open(ctx)
	if err != nil {
		return workbench.Reply{}, publicStore(err)
	}
	var b strings.Builder
	if len(open) == 0 {
		b.WriteString("No session is open. Call list_workflows and start_workflow to begin one.")
	}
	for i := range open {
		m := &open[i]
		if id, ok := token.ParseSessionID(m.ID); ok && m.Health == session.Healthy {
			m.Resume = s.keys.Mint(token.Token{Kind: token.Resume, Session: id})
		}
		fmt.Fprintf(&b, "- %s: %s at step %s%s, %d completed, last changed %s\n", m.ID, m.Workflow, m.Step, m.blockedText(), m.Completed, m.Updated.Format(time.RFC3339))
		if m.Goal != "" {
			fmt.Fprintf(&b, "  goal: %s\n", oneLine(m.Goal))
		}
		if m.Resume != "" {
			fmt.Fprintf(&b, "  resumeToken: %s\n", m.Resume)
		} else {
			fmt.Fprintf(&b, "  not healthy (%s): session_health gives the reason, export_session returns what can be read\n", m.Health)
		}
	}
	if older > 0 {
		fmt.Fprintf(&b, "and %d older sessions, which candor workbench workrail sessions lists\n", older)
	}
	return workbench.Reply{Text: []string{b.String()}, Data: map[string]any{"sessions": open, "older": older}}, nil
}
