package workrail

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/candor-mcp/candor/cmd/internal/jsonvalue"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/token"
	"github.com/candor-mcp/candor/internal/lazyregexp"
	"github.com/candor-mcp/candor/internal/redact"
)

// The budget of the earlier steps in resume_session, in bytes. export_session returns everything.
const (
	maxEarlierBytes   = 6 << 10
	maxEarlierContext = 2 << 10
	maxEarlierNotes   = 2 << 10 // of one step
	maxEarlierOutput  = 512     // of one step
	maxEarlierValue   = 200     // of one key of the context
	maxEarlierSteps   = 50      // each is read from disk
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

// earlier reads the latest completed steps of a session, as many as fit.
func (s *System) earlier(ctx context.Context, id token.SessionID, v *sessionState) (*earlier, error) {
	e := &earlier{LeftOut: len(v.nodes)}
	remaining := maxEarlierBytes
	for i := len(v.nodes) - 1; i >= max(0, len(v.nodes)-maxEarlierSteps); i-- {
		event, err := s.sessions.Event(ctx, id.String(), v.nodes[i].done.event)
		if err != nil {
			return nil, err
		}
		var done stepAdvanced
		if err := json.Unmarshal(event.Data, &done); err != nil {
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
	e.addContext(v.context)
	return e, nil
}

func (e *earlier) addContext(values map[string]any) {
	remaining := maxEarlierContext
	for _, key := range slices.Sorted(maps.Keys(values)) {
		text, err := jsonvalue.Append(nil, values[key])
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

// shortened truncates a text to about limit bytes and marks the cut.
func shortened(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + " … (shortened)"
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

// plainKey matches keys that need no quotes.
var plainKey = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_.-]*$`)

func (v earlierValue) text() string {
	key := v.Key
	if !plainKey.MatchString(key) {
		key = strconv.QuoteToGraphic(key)
	}
	return "- " + oneLine(key) + " = " + oneLine(v.Value) + "\n"
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
