package workrail

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/run"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/session"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/token"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/workflow"
	blockerscode "github.com/candor-mcp/candor/codes/blockers"
	workrailcode "github.com/candor-mcp/candor/codes/workrail"
	"github.com/candor-mcp/candor/internal/jsontext"
)

type continueArgs struct {
	Token   string          `json:"continueToken"`
	Notes   string          `json:"notes"`
	Output  json.RawMessage `json:"output"`
	Context json.RawMessage `json:"context"`
}

// maxBlocked is how often a step may be blocked in a row before a further attempt is refused.
const maxBlocked = 3

func (s *System) continueWorkflow() workbench.Tool {
	return workbench.Tool{
		Name: "continue_workflow", Title: "Complete a step",
		About: "Say that the pending step is done and get the next one. Sending a token twice is safe: the recorded answer is returned.",
		Input: `{"continueToken":{"type":"string","minLength":1,"maxLength":256,"description":"continueToken or retryContinueToken of the last answer, copied exactly."},
"notes":{"type":"string","maxLength":65536,"description":"What you did and found in this step."},
"output":{"description":"The JSON value that the step asks for, if it asks for one."},
` + contextProperty + `}`,
		Required: []string{"continueToken"}, Idempotent: true,
		Codes: []candor.Code{
			workrailcode.TokenInvalidFormat, workrailcode.TokenUnsupportedVersion, workrailcode.TokenBadSignature,
			workrailcode.TokenScopeMismatch, workrailcode.TokenUnknownNode, workrailcode.TokenWorkflowHashMismatch,
			workrailcode.TokenSessionLocked, workrailcode.SessionNotHealthy, workrailcode.PreconditionFailed,
		},
		Run: workbench.Handle(s.advance),
	}
}

// attempt is one call of continue_workflow.
type attempt struct {
	token   token.Token
	notes   string
	output  json.RawMessage
	context map[string]any
	digest  string
	asks    bool // the client can ask a person
	answer  any  // of that person; nil if there is none
}

func (a *attempt) at(v *sessionState) attempted {
	return attempted{a.token.Node, a.token.Attempt, v.next.Path, a.digest}
}

func (s *System) advance(ctx context.Context, c *workbench.Call, in continueArgs) (workbench.Reply, error) {
	t, err := s.key.Parse(in.Token, token.Continue)
	if err != nil {
		return workbench.Reply{}, public(err)
	}
	try, bad := newAttempt(t, in)
	if bad != nil {
		return workbench.Reply{}, bad
	}
	try.asks = c.CanAsk()
	a, err := s.record(ctx, try)
	if question, ok := errors.AsType[*userQuestion](err); ok { // the session is not locked while a person thinks
		try.asks = false
		try.answer = c.Ask(ctx, question.text, question.schema)
		a, err = s.record(ctx, try)
	}
	if err != nil {
		return workbench.Reply{}, public(err)
	}
	return a.reply(), nil
}

// record records an attempt and returns the answer, or the recorded answer to an earlier attempt with the same token.
// The error is a [*userQuestion] if a person must be asked first.
func (s *System) record(ctx context.Context, try *attempt) (a *answer, err error) {
	t := try.token
	var earlier *outcome
	err = s.sessions.Update(ctx, t.Session.String(), func(v *sessionState) ([]session.Record, error) {
		if earlier, err = v.find(t); err != nil || earlier != nil {
			return nil, err
		}
		return s.decide(v, try)
	}, func(v *sessionState) { a = s.current(t.Session, v) })
	if err == nil && earlier != nil {
		err = s.sessions.View(ctx, t.Session.String(), func(v *sessionState, events []session.Event) (err error) {
			a, err = s.recorded(t.Session, v, events, t, *earlier, try.digest)
			return err
		})
	}
	return a, err
}

func newAttempt(t token.Token, in continueArgs) (*attempt, *candor.Error) {
	const tool = "continue_workflow"
	context, bad := contextOf(tool, in.Context)
	if bad != nil {
		return nil, bad
	}
	if len(in.Output) > maxOutputBytes {
		return nil, failure(workrailcode.ValidationError, fmt.Sprintf("The output has %d bytes, and at most %d are accepted.", len(in.Output), maxOutputBytes), "",
			map[string]any{"kind": "output_budget_exceeded", "measuredBytes": len(in.Output), "maxBytes": maxOutputBytes, "measuredAs": "utf8_bytes"}, nil)
	}
	content := map[string]any{"notes": in.Notes, "output": nil, "context": map[string]any{}}
	if context != nil {
		content["context"] = context
	}
	if len(in.Output) > 0 {
		var output any
		if err := decode(in.Output, &output); err != nil {
			return nil, failure(workrailcode.ValidationError, "The output is not JSON.", "", nil, err)
		}
		content["output"] = output
	}
	text, err := jsontext.AppendCanonical(nil, content)
	if errors.Is(err, jsontext.ErrTooDeep) { // the context was measured before
		return nil, failure(workrailcode.ValidationError, "The output is nested too deep.",
			fmt.Sprintf("Flatten the output; fewer than %d levels may be nested.", jsontext.MaxDepth),
			map[string]any{"kind": "output_depth_exceeded", "tool": tool, "maxDepth": jsontext.MaxDepth - 1}, nil)
	}
	if err != nil {
		return nil, outOfRange(tool, "output", "", err)
	}
	sum := sha256.Sum256(text)
	return &attempt{token: t, notes: in.Notes, output: in.Output, context: context, digest: hex.EncodeToString(sum[:16])}, nil
}

// find returns the recorded outcome of a token, nil if the token is the one to use now.
func (s *sessionState) find(t token.Token) (*outcome, error) {
	blocked, left := s.blocked, t.Node < s.node()
	if left {
		blocked = s.nodes[t.Node].blocked
	}
	switch {
	case t.Node > s.node(), int(t.Attempt) > len(blocked):
		return nil, &continueError{kind: missingNodeOrRun}
	case int(t.Attempt) < len(blocked):
		return &blocked[t.Attempt], nil
	case left:
		return &s.nodes[t.Node].done, nil
	case s.ended():
		return nil, &continueError{kind: noPendingStep}
	default:
		return nil, nil //nolint:nilnil // nothing is recorded
	}
}

// decide returns the records for an attempt: the next step, or a report of missing items.
func (s *System) decide(v *sessionState, try *attempt) ([]session.Record, error) {
	var blockers []blocker
	w, err := s.snapshot(v.start.Hash)
	if errors.Is(err, errSnapshotDamaged) { // it can be restored
		blockers = append(blockers, newBlocker(blockerscode.StorageCorruptionDetected, pointer{Kind: "session"},
			"The stored copy of this session's workflow is damaged.",
			"Ask the user to put back the workflow file with the same content; start_workflow then stores it again."))
	} else if err != nil {
		return nil, err
	}
	set := try.context
	if len(blockers) == 0 {
		if bad := unfit(w, try.context, "continue with the same token"); bad != nil {
			return nil, bad
		}
		if step := v.pending(w); step != nil && step.AskUser != nil && try.answer != nil {
			set = merged(try.context, map[string]any{step.AskUser.Key: try.answer})
		}
		if blockers, err = s.blockers(w, v, try, merged(v.context, set)); err != nil {
			return nil, err
		}
	}
	if len(blockers) == 1 && blockers[0].Code == blockerscode.UserOnlyDependency.Symbol() && try.asks {
		return nil, questionOf(w, v)
	}
	if len(blockers) > 0 {
		return s.block(v, try, blockers)
	}
	after := merged(v.context, set)
	position, err := run.Advance(w, v.position, after)
	if err != nil {
		if b, ok := brokenRule(v, err); ok {
			return s.block(v, try, []blocker{b})
		}
		return nil, &continueError{advanceApplyFailed, err}
	}
	next, err := viewOf(w, position, after)
	if err != nil {
		return nil, &continueError{advanceNextFailed, err}
	}
	return []session.Record{{Kind: eventAdvanced, Data: stepAdvanced{
		attempted: try.at(v), Notes: try.notes, Output: try.output, Set: set, Person: try.answer != nil, Position: position, Next: next,
	}}}, nil
}

// block records a report, unless the step was blocked too often in a row.
func (s *System) block(v *sessionState, try *attempt, blockers []blocker) ([]session.Record, error) {
	if err := checkReport(blockers); err != nil {
		return nil, failure(workrailcode.InternalError, "", "", map[string]any{"kind": "blocker_report_over_budget"}, err)
	}
	if len(v.blocked) >= maxBlocked {
		return nil, blockedTooOften(len(v.blocked), blockers)
	}
	return []session.Record{{Kind: eventBlocked, Data: stepBlocked{try.at(v), blockers}}}, nil
}

// blockedTooOften is the error for one more incomplete attempt. It has no new token, so the fixes are shown without the
// retry advice.
func blockedTooOften(attempts int, blockers []blocker) *candor.Error {
	var codes []string
	again := "Nothing of the blocked calls was kept: send notes, output and context complete, with everything that the details list, in one call of continue_workflow with the token you used, or ask the user for help."
	shown := slices.Clone(blockers)
	for i := range shown {
		codes = append(codes, shown[i].Code)
		shown[i].SuggestedFix = strings.TrimSuffix(shown[i].SuggestedFix, withRetryToken)
		if shown[i].Code == blockerscode.UserOnlyDependency.Symbol() { // the agent cannot give the key that the details list
			again = shown[i].SuggestedFix + " Then send notes, output and context complete, without that key, with the token you used."
		}
	}
	return failure(workrailcode.PreconditionFailed,
		fmt.Sprintf("This step was blocked %d times in a row, and this attempt lacks something too: %s %s", attempts, shown[0].Message, shown[0].SuggestedFix),
		again,
		map[string]any{"kind": "blocked_too_often", "blockedAttempts": attempts, "blockers": shown, "codes": codes}, nil)
}

// brokenRule turns an attempt that would change the list of a running loop into a blocker.
func brokenRule(v *sessionState, err error) (blocker, bool) {
	loop, ok := errors.AsType[*run.Error](err)
	if !ok || loop.Kind != run.KindInvalidLoop || !v.position.Runs(loop.Path) {
		return blocker{}, false
	}
	return newBlocker(blockerscode.InvariantViolation, pointer{Kind: "context_key", Step: v.next.ID, Name: loop.Key},
		"The loop "+cut(loop.Path, 200)+" is running: "+cut(loop.Reason, 200)+".",
		"Leave what the context key "+loop.Key+" holds as it was; new items may only be added at the end."), true
}

// The budget of a context.
const (
	maxContextBytes = 256 << 10 // as canonical JSON
	maxContextDepth = 64
	maxOutputBytes  = 256 << 10
)

// contextOf decodes and measures a context argument.
func contextOf(tool string, raw json.RawMessage) (map[string]any, *candor.Error) {
	if len(raw) == 0 {
		return nil, nil //nolint:nilnil // no context was given
	}
	var context map[string]any
	if err := decode(raw, &context); err != nil {
		return nil, failure(workrailcode.ValidationError, "The context is not a JSON object.", "", nil, err)
	}
	path, deep := wrongValue(context, "context", 1)
	switch {
	case deep:
		return nil, failure(workrailcode.ValidationError, fmt.Sprintf("The context is nested deeper than %d levels.", maxContextDepth),
			"Flatten the context at the path in the details; at most 64 levels may be nested.",
			map[string]any{"kind": "context_depth_exceeded", "tool": tool, "path": path, "maxDepth": maxContextDepth}, nil)
	case path != "":
		return nil, outOfRange(tool, "context", path, nil)
	}
	text, err := jsontext.AppendCanonical(nil, context)
	if err != nil {
		return nil, outOfRange(tool, "context", "", err)
	}
	if size := len(text); size > maxContextBytes {
		return nil, failure(workrailcode.ValidationError, fmt.Sprintf("The context has %d bytes, and at most %d are accepted.", size, maxContextBytes),
			"Keep long texts in files and put their paths into the context.",
			map[string]any{"kind": "context_budget_exceeded", "tool": tool, "measuredBytes": size, "maxBytes": maxContextBytes, "measuredAs": "jcs_utf8_bytes"}, nil)
	}
	return context, nil
}

// outOfRange is the error for a number that a float64 cannot hold: other programs would read it as infinity, or not at
// all.
func outOfRange(tool, argument, path string, cause error) *candor.Error {
	details := map[string]any{"kind": "number_out_of_range", "tool": tool, "argument": argument}
	if path != "" {
		details["path"] = path
	}
	return failure(workrailcode.ValidationError, "The "+argument+" has a number that is out of range.",
		"Use a number of at most about 1.8e308, or a text.", details, cause)
}

// wrongValue returns the path of the first value that is nested too deep, or that is a number out of range; "" if there
// is none. depth is the level of v, from 1.
func wrongValue(v any, path string, depth int) (at string, deep bool) {
	path = candor.Public(path, 200) // its beginning is enough to find the value
	if depth > maxContextDepth+1 {
		return path, true
	}
	switch v := v.(type) {
	case json.Number:
		if _, err := v.Float64(); err != nil {
			return path, false
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if at, deep = wrongValue(v[key], path+"."+key, depth+1); at != "" {
				return at, deep
			}
		}
	case []any:
		for i, inner := range v {
			if at, deep = wrongValue(inner, fmt.Sprintf("%s[%d]", path, i), depth+1); at != "" {
				return at, deep
			}
		}
	}
	return "", false
}

const workflowProperty = `"workflowId":{"type":"string","minLength":1,"maxLength":128,"description":"An id from list_workflows."}`

const contextProperty = `"context":{"type":"object","description":"Values that the steps use, such as paths and findings; at most 256 KiB. null removes a key."}`

const folderProperty = `"folder":{"type":"string","minLength":1,"maxLength":4096,"description":"The absolute path of the project's folder. resume_session lists the sessions of a folder."}`

type startArgs struct {
	Workflow string          `json:"workflowId"`
	Folder   string          `json:"folder"`
	Goal     string          `json:"goal"`
	Context  json.RawMessage `json:"context"`
}

func (s *System) startWorkflow() workbench.Tool {
	return workbench.Tool{
		Name: "start_workflow", Title: "Start a workflow",
		About: "Begin a workflow and get its first step with a continueToken. Keep the resumeToken: with it the workflow continues after an interruption.",
		Input: `{` + workflowProperty + `,
"goal":{"type":"string","maxLength":4096,"description":"What this run is for, in one or two sentences; it is shown when the session is resumed."},
` + folderProperty + `,
` + contextProperty + `}`,
		Required: []string{"workflowId"},
		Codes:    []candor.Code{workrailcode.NotFound, workrailcode.PreconditionFailed},
		Run:      workbench.Handle(s.start),
	}
}

func (s *System) start(ctx context.Context, _ *workbench.Call, in startArgs) (workbench.Reply, error) {
	w, err := s.workflow(ctx, in.Workflow)
	if err != nil {
		return workbench.Reply{}, err
	}
	given, bad := contextOf("start_workflow", in.Context)
	if bad != nil {
		return workbench.Reply{}, bad
	}
	given = merged(map[string]any{}, given)
	if bad := unfit(w, given, "call start_workflow again"); bad != nil {
		return workbench.Reply{}, bad
	}
	position, err := run.Start(w, given)
	if err != nil {
		return workbench.Reply{}, publicRun(err, "call start_workflow again", map[string]any{})
	}
	if bad := lacksCapabilities(w, given); bad != nil {
		return workbench.Reply{}, bad
	}
	next, err := viewOf(w, position, given)
	if err != nil {
		return workbench.Reply{}, publicRun(err, "call start_workflow again", map[string]any{})
	}
	var id token.SessionID
	_, _ = rand.Read(id[:]) // never fails
	if err := s.keep(w); err != nil {
		return workbench.Reply{}, public(err)
	}
	v := sessionState{context: given, position: position, next: next, start: runStarted{
		Workflow: w.ID, Name: w.Name, Hash: w.Hash(), Goal: in.Goal, Folder: cleaned(in.Folder), Context: given, Position: position, Next: next,
	}}
	if err := s.sessions.Create(id.String(), session.Record{Kind: eventStarted, Data: v.start}); err != nil {
		return workbench.Reply{}, public(err)
	}
	a := s.current(id, &v)
	reply := a.reply()
	if len(w.Guidance) > 0 {
		reply.Text = append([]string{guidanceText(w)}, reply.Text...)
	}
	return reply, nil
}

// guidanceText returns the guidance for all steps.
func guidanceText(w *workflow.Workflow) string {
	text := "For every step of " + oneLine(w.Name) + ":"
	for _, g := range w.Guidance {
		text += "\n- " + indented(g)
	}
	return text
}
