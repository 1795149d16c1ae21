package workrail

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/session"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/workflow"
)

// The answer to the question of a step comes from a person: by elicitation if the client offers it, or else by the command
// candor workbench workrail answer. An agent cannot set the key of an answer.

// userQuestion is the error for a step that a person must answer first.
type userQuestion struct {
	text   string
	schema map[string]any // of the answer
}

// Error returns the question.
func (q *userQuestion) Error() string { return q.text }

// questionOf returns the question of the pending step, which has one.
func questionOf(w *workflow.Workflow, v *sessionState) error {
	pending, _, err := v.position.Pending(w, v.context)
	if err != nil {
		return &continueError{advanceApplyFailed, err}
	}
	return &userQuestion{w.Name + ": " + pending.Question, map[string]any{"type": answerType(w, pending.Step.AskUser.Key)}}
}

// answerType returns the type of an answer, which a form can ask for.
func answerType(w *workflow.Workflow, key string) string {
	for _, k := range w.Context {
		if k.Key == key && slices.Contains([]string{"boolean", "integer", "number"}, k.Type) {
			return k.Type
		}
	}
	return "string"
}

// Question is a question that waits for a person.
type Question struct {
	Session  string `json:"sessionId"`
	Workflow string `json:"workflowId"`
	Goal     string `json:"goal,omitempty"`
	Step     string `json:"step"`
	Text     string `json:"question"`
	Type     string `json:"type"`

	key string
	at  uint32
}

// errNoQuestion is the error for a session that does not wait for a person.
var errNoQuestion = errors.New("no question of this session waits for an answer")

// Question returns the question of a session that waits for a person.
func (s *System) Question(ctx context.Context, id string) (q Question, err error) {
	err = s.sessions.View(ctx, id, func(v *sessionState, _ []session.Event) error {
		w, err := s.snapshot(v.start.Hash)
		if err != nil {
			return err
		}
		pending, ok, err := v.position.Pending(w, v.context)
		if err != nil || !ok || v.ended() || pending.Step.AskUser == nil || v.answered {
			return errors.Join(err, errNoQuestion)
		}
		key := pending.Step.AskUser.Key
		q = Question{id, v.start.Workflow, v.start.Goal, pending.Path, pending.Question, answerType(w, key), key, v.node()}
		return nil
	})
	return q, err
}

// Questions returns the questions of all sessions, the most recently changed first.
func (s *System) Questions(ctx context.Context) ([]Question, error) {
	found := []Question{}
	ids, err := s.sessions.Recent()
	for _, id := range ids {
		if q, err := s.Question(ctx, id); err == nil {
			found = append(found, q)
		}
	}
	return found, errors.Join(err, ctx.Err())
}

// Answer records the answer of a person to a question.
func (s *System) Answer(ctx context.Context, q Question, text, by string) error {
	value, err := answerValue(q.Type, text)
	if err != nil {
		return err
	}
	return s.sessions.Update(ctx, q.Session, func(v *sessionState) ([]session.Record, error) {
		if v.node() != q.at || v.ended() || v.answered {
			return nil, errNoQuestion
		}
		return []session.Record{{Kind: eventAnswered, Data: userAnswered{q.at, q.key, value, by}}}, nil
	}, nil)
}

// answerValue reads the answer of a person as a value of a type.
func answerValue(typeName, text string) (any, error) {
	text = strings.TrimSpace(text)
	switch typeName {
	case "boolean":
		switch strings.ToLower(text) {
		case "yes", "y", "true":
			return true, nil
		case "no", "n", "false":
			return false, nil
		}
	case "integer":
		if _, err := strconv.ParseInt(text, 10, 64); err == nil {
			return json.Number(text), nil
		}
	case "number":
		if n, err := strconv.ParseFloat(text, 64); err == nil {
			return n, nil
		}
	default:
		if text != "" && len(text) <= maxOutputBytes {
			return text, nil
		}
	}
	return nil, fmt.Errorf("%q is not an answer of type %s (hint: %s)", candor.Public(text, 100), typeName,
		map[string]string{"boolean": "yes or no", "integer": "a whole number", "number": "a number", "string": "a text that is not empty, of at most 256 KiB"}[typeName])
}
