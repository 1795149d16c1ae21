package run

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/candor-mcp/candor/cmd/internal/jsonvalue"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/workflow"
	"github.com/candor-mcp/candor/internal/redact"
	"github.com/candor-mcp/candor/internal/truncate"
)

// The limits of values that are filled into prompts, in bytes.
const (
	MaxValueBytes  = 2 << 10  // of one value
	MaxValuesBytes = 16 << 10 // of all values of one prompt
)

// Pending is the step to do at a position.
type Pending struct {
	Step         *workflow.Step // belongs to the workflow; do not change it
	Path         string         // as [Position.Path]
	Iteration    int            // of the innermost loop, from 1; 0 outside of loops
	Total        int            // total iterations of that loop; 0 if unknown
	Prompt       string         // with the values of the context filled in
	Question     string         // the question for the user, filled in; "" if the step asks nothing
	AwaitingUser bool           // the context does not have the answer yet
	MissingKeys  []string       // keys that the step requires and the context does not have
}

// Pending returns the step to do at the position; ok is false if the run is completed. The error is an [Error].
//
// A step with MissingKeys, or one that is AwaitingUser, should not be done yet. Advance does not check that.
func (p Position) Pending(w *workflow.Workflow, context map[string]any) (pending Pending, ok bool, err error) {
	if w != nil && p.Completed() {
		return Pending{}, false, nil
	}
	k, err := restore(w, p, context)
	if err != nil {
		return Pending{}, false, err
	}
	top := k.top()
	step := &top.steps[top.at]
	pending = Pending{Step: step, Path: p.Path(), Iteration: top.state.Iteration, Total: top.state.Total, Prompt: k.fill(step.Prompt)}
	for _, key := range step.Requires {
		if !k.isSet(key) {
			pending.MissingKeys = append(pending.MissingKeys, key)
		}
	}
	if q := step.AskUser; q != nil {
		pending.Question, pending.AwaitingUser = k.fill(q.Question), !k.isAnswered(q.Key)
	}
	return pending, true, nil
}

// fill replaces the placeholders of a text with values of the context. Placeholders of keys that are not set are kept.
//
// Values come from the agent. Lines that begin inside a value are marked, so that none of them looks like a line of the
// server.
func (k *walker) fill(text string) string {
	if !strings.Contains(text, "{{") {
		return text
	}
	expand := k.expander()
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = marked(line, expand(line))
	}
	return strings.Join(lines, "\n")
}

// valueMark begins lines of a value.
const valueMark = "  | "

// marked returns a line of a text with its values filled in. It marks further lines of the values, and the first line
// if it looks like a line of the server only because of a value.
func marked(line, filled string) string {
	if filled == line {
		return line
	}
	filled = strings.ReplaceAll(filled, "\n", "\n"+valueMark)
	if first, _, _ := strings.Cut(filled, "\n"); looksLikeOurs(first) && !looksLikeOurs(line) {
		return valueMark + filled
	}
	return filled
}

// looksLikeOurs reports whether a line begins like one of those that the server adds to a step.
func looksLikeOurs(line string) bool {
	line = strings.ToLower(strings.TrimSpace(line))
	return line == "-" || slices.ContainsFunc([]string{"- ", "continuetoken", "resumetoken", "retrycontinuetoken"},
		func(start string) bool { return strings.HasPrefix(line, start) })
}

// expander returns a function that fills values into the lines of one text, which share one budget.
func (k *walker) expander() func(string) string {
	remaining := MaxValuesBytes
	texts := map[string]string{} // a prompt may name a large value many times
	value := func(key string) (string, bool) {
		value, known := texts[key]
		if !known {
			v, _ := k.lookup(key, len(k.levels))
			if v == nil {
				return "", false
			}
			value = shorten(valueText(v), MaxValueBytes)
			texts[key] = value
		}
		value = shorten(value, remaining)
		remaining = max(remaining-len(value), 0)
		return value, true
	}
	return func(text string) string { return workflow.Expand(text, value) }
}

// valueText returns a string unchanged and any other value as JSON, without invisible and control characters. It
// returns little more than MaxValueBytes of a long text.
func valueText(v any) string {
	text, ok := v.(string)
	if !ok {
		data, err := jsonvalue.Append(nil, v)
		if err != nil {
			return "(not JSON)"
		}
		text = string(data)
	}
	text = text[:min(len(text), MaxValueBytes+utf8.UTFMax)]
	return redact.Chars(text)
}

// shorten truncates a text to at most limit bytes, at a character boundary. It keeps at least an ellipsis, which is
// shorter than any placeholder.
func shorten(text string, limit int) string {
	const mark = " … (shortened)"
	if len(text) > limit && limit < len(mark) {
		return truncate.Mark
	}
	return truncate.WithMark(text, limit, mark)
}
