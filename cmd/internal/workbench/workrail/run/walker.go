package run

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/candor-mcp/candor/cmd/internal/jsonvalue"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/workflow"
)

// maxWork limits the work of one call, in visited steps and costs of conditions. Nested loops whose steps are all
// skipped would otherwise take very long.
const maxWork = 1_000_000

// walker finds the next pending step. It is used for one call.
type walker struct {
	context map[string]any
	levels  []level // the workflow, then the loops around the current step
	work    int
}

// level is one list of steps and the current one.
type level struct {
	steps []workflow.Step
	at    int

	owner *workflow.Step // the step that has the loop; nil for the workflow
	state Loop
	items []any // of a loop with each
}

func newWalker(w *workflow.Workflow, context map[string]any) (*walker, error) {
	if w == nil {
		return nil, &InvalidPosition{Reason: "no workflow"}
	}
	return &walker{context: context, levels: []level{{steps: w.Steps}}}, nil
}

func (k *walker) top() *level { return &k.levels[len(k.levels)-1] }

// restore returns a walker at a position.
func restore(w *workflow.Workflow, p Position, context map[string]any) (*walker, error) {
	k, err := newWalker(w, context)
	if err != nil {
		return nil, err
	}
	switch {
	case p.Version != PositionVersion:
		return nil, &InvalidPosition{Reason: fmt.Sprintf("version %d, want %d", p.Version, PositionVersion)}
	case p.Completed():
		return nil, &NoPendingStep{}
	}
	for _, l := range p.Loops {
		if err := k.reenter(l); err != nil {
			return nil, err
		}
	}
	step, err := k.find(p.Step)
	if err != nil {
		return nil, err
	}
	if step.Loop != nil {
		return nil, &InvalidPosition{Reason: fmt.Sprintf("step %.64q is a loop", p.Step)}
	}
	return k, nil
}

// find makes the step with an ID the current one of the innermost level.
func (k *walker) find(id string) (*workflow.Step, error) {
	top := k.top()
	top.at = slices.IndexFunc(top.steps, func(s workflow.Step) bool { return s.ID == id })
	if top.at < 0 {
		return nil, &InvalidPosition{Reason: fmt.Sprintf("no step %.64q at this place", id)}
	}
	return &top.steps[top.at], nil
}

// reenter adds the level of a loop that a position names.
func (k *walker) reenter(state Loop) error {
	step, err := k.find(state.Step)
	if err != nil {
		return err
	}
	if step.Loop == nil {
		return &InvalidPosition{Reason: fmt.Sprintf("step %.64q is not a loop", state.Step)}
	}
	if err := k.checkLoop(step); err != nil {
		return err
	}
	counted := step.Loop.Kind == workflow.LoopTimes || step.Loop.Kind == workflow.LoopEach
	if state.Iteration < 1 || state.Iteration > step.Loop.MaxIterations || state.Total > step.Loop.MaxIterations ||
		counted && state.Iteration > state.Total || !counted && state.Total != 0 {
		return &InvalidPosition{Reason: fmt.Sprintf("loop %.64q: iteration %d of %d", state.Step, state.Iteration, state.Total)}
	}
	next := level{steps: step.Loop.Steps, owner: step, state: state}
	if step.Loop.Kind == workflow.LoopEach {
		if next.items, err = k.sameItems(step, state); err != nil {
			return err
		}
	}
	k.levels = append(k.levels, next)
	return nil
}

// seek moves to the next step to do, starting with the current one, or to the end of the workflow.
func (k *walker) seek() error {
	for {
		if err := k.spend(1); err != nil {
			return err
		}
		top := k.top()
		if top.at >= len(top.steps) {
			if top.owner == nil {
				return nil
			}
			if err := k.repeat(); err != nil {
				return err
			}
			continue
		}
		step := &top.steps[top.at]
		found, err := k.visit(step)
		if err != nil || found {
			return err
		}
	}
}

// visit reports whether a step is to be done. If not, it moves on: into the step's loop, or past the step.
func (k *walker) visit(step *workflow.Step) (found bool, err error) {
	if step.When != nil {
		holds, err := k.eval(step, step.When, len(k.levels))
		if err != nil {
			return false, err
		}
		if !holds {
			k.top().at++
			return false, nil
		}
	}
	if step.Loop == nil {
		return true, nil
	}
	entered, err := k.enter(step)
	if err == nil && !entered {
		k.top().at++
	}
	return false, err
}

// spend adds work and returns an error if a call exceeds maxWork.
func (k *walker) spend(work int) error {
	if k.work += work; k.work <= maxWork {
		return nil
	}
	e := &InvalidLoop{Reason: "too much work to find the next step; the conditions skip too many steps, or compare too large values"}
	if owner := k.top().owner; owner != nil {
		e.Step, e.Path = owner.ID, k.path(owner, len(k.levels)-1)
	}
	return e
}

// eval evaluates a condition of a step with the names of the first levels.
func (k *walker) eval(step *workflow.Step, c *workflow.Condition, levels int) (bool, error) {
	holds, cost, err := c.Eval(func(key string) (any, bool) { return k.lookup(key, levels) })
	if failure, ok := errors.AsType[*workflow.EvalError](err); ok {
		return false, &ConditionEvalFailed{Step: step.ID, Path: k.path(step, levels), Err: failure}
	}
	if err := k.spend(cost); err != nil {
		return false, err
	}
	return holds, nil
}

// lookup returns the value of a key for the steps of a level: names of inner loops hide those of outer loops and of the
// context.
func (k *walker) lookup(key string, levels int) (any, bool) {
	name, rest, more := strings.Cut(key, ".")
	for i := levels - 1; i > 0; i-- {
		l := &k.levels[i]
		switch name {
		case l.owner.Loop.As:
			if len(l.items) < l.state.Iteration {
				continue
			}
			return member(l.items[l.state.Iteration-1], rest, more)
		case l.owner.Loop.Index:
			return member(l.state.Iteration, rest, more)
		}
	}
	return jsonvalue.Lookup(k.context, key)
}

// member returns a value, or the member of it that the rest of a key names.
func member(v any, rest string, more bool) (any, bool) {
	if !more {
		return v, true
	}
	object, ok := v.(map[string]any)
	if !ok {
		return nil, false
	}
	return jsonvalue.Lookup(object, rest)
}

// isSet reports whether the current step sees a value at a key. null counts as not set.
func (k *walker) isSet(key string) bool {
	v, _ := k.lookup(key, len(k.levels))
	return v != nil
}

// isAnswered reports whether the value at a key can be the answer of a user: not null, and not blank.
func (k *walker) isAnswered(key string) bool {
	v, _ := k.lookup(key, len(k.levels))
	switch v := v.(type) {
	case nil:
		return false
	case string:
		return strings.TrimSpace(v) != ""
	case map[string]any:
		return len(v) > 0
	case []any:
		return len(v) > 0
	default:
		return true
	}
}

// path returns the path of a step inside the first levels.
func (k *walker) path(step *workflow.Step, levels int) string { return k.loops(levels, step.ID).Path() }

// loops returns a position with the loops of the first levels.
func (k *walker) loops(levels int, step string) Position {
	p := Position{Version: PositionVersion, Step: step}
	for _, l := range k.levels[1:levels] {
		p.Loops = append(p.Loops, l.state)
	}
	return p
}

// position returns the position of the walker.
func (k *walker) position() (Position, error) {
	top := k.top()
	if top.at >= len(top.steps) { // seek stops there only at the end of the workflow
		return Position{Version: PositionVersion}, nil
	}
	for i := 1; i < len(k.levels); i++ {
		if err := k.seal(i); err != nil {
			return Position{}, err
		}
	}
	return k.loops(len(k.levels), top.steps[top.at].ID), nil
}
