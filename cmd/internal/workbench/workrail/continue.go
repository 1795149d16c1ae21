package workrail

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/jsonvalue"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/run"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/session"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/token"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/workflow"
	blockerscode "github.com/candor-mcp/candor/codes/blockers"
	workrailcode "github.com/candor-mcp/candor/codes/workrail"
)

type continueArgs struct {
	Token   string          `json:"continueToken"`
	Notes   string          `json:"notes"`
	Output  json.RawMessage `json:"output"`
	Context json.RawMessage `json:"context"`
}

// maxAttempts is the maximum number of attempts at one step.
const maxAttempts = 1000

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
}

func (s *System) advance(ctx context.Context, _ *workbench.Call, in continueArgs) (workbench.Reply, error) {
	t, err := s.keys.Parse(in.Token, token.Continue)
	if err != nil {
		return workbench.Reply{}, publicToken(err)
	}
	try, bad := newAttempt(t, in)
	if bad != nil {
		return workbench.Reply{}, bad
	}
	var a *answer
	var earlier *outcome
	err = s.sessions.Update(ctx, t.Session.String(), func(v *sessionState) ([]session.Record, error) {
		if earlier, err = v.find(t); err != nil || earlier != nil {
			return nil, err
		}
		return s.decide(v, try)
	}, func(v *sessionState) { a = s.current(t.Session, v) })
	if err == nil && earlier != nil {
		a, err = s.replayed(ctx, try, *earlier)
	}
	if err != nil {
		return workbench.Reply{}, publicStore(err)
	}
	return a.reply(), nil
}

func (s *System) replayed(ctx context.Context, try *attempt, o outcome) (*answer, error) {
	var v sessionState
	err := s.sessions.View(ctx, try.token.Session.String(), func(now *sessionState) error {
		v = *now
		return nil
	})
	if err != nil {
		return nil, err
	}
	return s.recorded(ctx, try.token.Session, &v, try.token, o, try.digest)
}

func newAttempt(t token.Token, in continueArgs) (*attempt, *candor.Error) {
	context, bad := contextOf("continue_workflow", in.Context)
	if bad != nil {
		return nil, bad
	}
	if len(in.Output) > maxOutputBytes {
		return nil, candor.New(workrailcode.ValidationError, fmt.Sprintf("The output has %d bytes, and at most %d are accepted.", len(in.Output), maxOutputBytes),
			candor.WithDetails(map[string]any{"kind": "output_budget_exceeded", "measuredBytes": len(in.Output), "maxBytes": maxOutputBytes, "measuredAs": "utf8_bytes"}))
	}
	try := &attempt{token: t, notes: in.Notes, output: in.Output, context: context}
	var output any
	if len(in.Output) > 0 {
		if err := decode(in.Output, &output); err != nil {
			return nil, candor.New(workrailcode.ValidationError, "The output is not JSON.")
		}
	}
	text, err := jsonvalue.Append(nil, map[string]any{"notes": in.Notes, "output": output, "context": anyMap(context)})
	if errors.Is(err, jsonvalue.ErrTooDeep) { // the context was measured before
		return nil, candor.New(workrailcode.ValidationError, "The output is nested too deep.",
			candor.WithSuggestion(fmt.Sprintf("Flatten the output; fewer than %d levels may be nested.", jsonvalue.MaxDepth)),
			candor.WithDetails(map[string]any{"kind": "output_depth_exceeded", "tool": "continue_workflow", "maxDepth": jsonvalue.MaxDepth - 1}))
	}
	if err != nil {
		return nil, outOfRange("output", "continue_workflow", err)
	}
	try.digest = digestOf(text)
	return try, nil
}

func anyMap(m map[string]any) any {
	if m == nil {
		return map[string]any{}
	}
	return m
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
	case s.completed():
		return nil, &continueError{kind: noPendingStep}
	default:
		return nil, nil //nolint:nilnil // nothing is recorded
	}
}

// decide returns the records for an attempt: the next step, or a report of missing items.
func (s *System) decide(v *sessionState, try *attempt) ([]session.Record, error) {
	w, blockers, err := s.pinned(v)
	if err != nil {
		return nil, err
	}
	after := merged(v.context, try.context)
	if len(blockers) == 0 {
		if blockers, err = s.blockers(w, v, try, after); err != nil {
			return nil, err
		}
	}
	if len(blockers) > 0 {
		return s.block(v, try, blockers)
	}
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
		Node: try.token.Node, Attempt: try.token.Attempt, Step: v.next.Path, Digest: try.digest,
		Notes: try.notes, Output: try.output, Set: try.context, Position: position, Next: next,
	}}}, nil
}

// pinned returns the workflow of a session. A damaged snapshot is a blocker, because it can be restored.
func (s *System) pinned(v *sessionState) (*workflow.Workflow, []blocker, error) {
	w, err := s.snapshots.load(v.start.Hash)
	switch {
	case err == nil:
		return w, nil, nil
	case errors.Is(err, errSnapshotMissing):
		return nil, nil, &continueError{missingSnapshot, err}
	case errors.Is(err, errSnapshotOther):
		return nil, nil, &continueError{workflowHashMismatch, err}
	case errors.Is(err, errSnapshotDamaged):
		return nil, []blocker{newBlocker(blockerscode.StorageCorruptionDetected, pointer{Kind: "session"},
			"The stored copy of this session's workflow is damaged.",
			"Ask the user to run candor workbench workrail doctor --repair, which restores it from the workflow file.")}, nil
	default:
		return nil, nil, &continueError{snapshotStoreError, err}
	}
}

// block records a report, unless the step was blocked too often in a row.
func (s *System) block(v *sessionState, try *attempt, blockers []blocker) ([]session.Record, error) {
	if err := checkReport(blockers); err != nil {
		return nil, failure(workrailcode.InternalError, "", "", map[string]any{"kind": "blocker_report_over_budget"}, err)
	}
	if len(v.blocked) >= min(s.o.BlockedAttempts, maxAttempts) {
		return nil, blockedTooOften(len(v.blocked), blockers)
	}
	return []session.Record{{Kind: eventBlocked, Data: stepBlocked{
		Node: try.token.Node, Attempt: try.token.Attempt, Step: v.next.Path, Digest: try.digest, Blockers: blockers,
	}}}, nil
}

// blockedTooOften is the error for one more incomplete attempt. It has no new token, so the fixes are shown without the
// retry advice.
func blockedTooOften(attempts int, blockers []blocker) *candor.Error {
	var codes []string
	shown := slices.Clone(blockers)
	for i := range shown {
		codes = append(codes, shown[i].Code)
		shown[i].SuggestedFix = strings.TrimSuffix(shown[i].SuggestedFix, withRetryToken)
	}
	return failure(workrailcode.PreconditionFailed,
		fmt.Sprintf("This step was blocked %d times in a row, and this attempt lacks something too: %s %s", attempts, shown[0].Message, shown[0].SuggestedFix),
		"Nothing of the blocked calls was kept: send notes, output and context complete, with everything that the details list, in one call of continue_workflow with the token you used, or ask the user for help.",
		map[string]any{"kind": "blocked_too_often", "blockedAttempts": attempts, "blockers": shown, "codes": codes}, nil)
}

// brokenRule turns an attempt that would change the list of a running loop into a blocker.
func brokenRule(v *sessionState, err error) (blocker, bool) {
	var loop *run.InvalidLoop
	if !errors.As(err, &loop) || len(v.position.Loops) == 0 || v.position.Loops[len(v.position.Loops)-1].Items == "" {
		return blocker{}, false
	}
	return newBlocker(blockerscode.InvariantViolation, pointer{Kind: "context_key", Step: v.next.ID, Name: loop.Key},
		"The loop "+cut(loop.Path, 200)+" is running: "+cut(loop.Reason, 200)+".",
		"Leave what the context key "+loop.Key+" holds as it was; new items may only be added at the end."), true
}
