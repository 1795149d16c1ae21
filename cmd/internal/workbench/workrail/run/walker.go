package run

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/workflow"
	"github.com/candor-mcp/candor/internal/jsontext"
)

// maxWork is the maximum number of steps that one call visits. Nested loops that skip all steps would otherwise
// take very long.
const maxWork = 100_000

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

func newWalker(w *workflow.Workflow, context map[string]any) *walker {
	return &walker{context: context, levels: []level{{steps: w.Steps}}}
}

func (k *walker) top() *level { return &k.levels[len(k.levels)-1] }

// restore returns a walker at a position.
func restore(w *workflow.Workflow, p Position, context map[string]any) (*walker, error) {
	if p.Completed() {
		return nil, &Error{Kind: KindNoPendingStep}
	}
	k := newWalker(w, context)
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
		return nil, invalidPosition("step %.64q is a loop", p.Step)
	}
	return k, nil
}

// find makes the step with an ID the current one of the innermost level.
func (k *walker) find(id string) (*workflow.Step, error) {
	top := k.top()
	top.at = slices.IndexFunc(top.steps, func(s workflow.Step) bool { return s.ID == id })
	if top.at < 0 {
		return nil, invalidPosition("no step %.64q at this place", id)
	}
	return &top.steps[top.at], nil
}

// reenter adds the level of a loop that a position names.
func (k *walker) reenter(state Loop) error {
	step, err := k.find(state.Step)
	if err != nil {
		return err
	}
	l := step.Loop
	if l == nil {
		return invalidPosition("step %.64q is not a loop", state.Step)
	}
	counted := l.Kind() == "times" || l.Kind() == "each"
	if state.Iteration < 1 || state.Iteration > l.MaxIterations || state.Total > l.MaxIterations ||
		counted && state.Iteration > state.Total || !counted && state.Total != 0 {
		return invalidPosition("loop %.64q: iteration %d of %d", state.Step, state.Iteration, state.Total)
	}
	next := level{steps: l.Steps, owner: step, state: state}
	if l.Kind() == "each" {
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
		if err := k.spend(); err != nil {
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

// spend counts a step and returns an error if a call visits more than maxWork.
func (k *walker) spend() error {
	if k.work++; k.work <= maxWork {
		return nil
	}
	e := &Error{Kind: KindInvalidLoop, Reason: "too much work to find the next step; the conditions skip too many steps"}
	if owner := k.top().owner; owner != nil {
		e.Step, e.Path = owner.ID, k.path(owner, len(k.levels)-1)
	}
	return e
}

// eval evaluates a condition of a step with the names of the first levels.
func (k *walker) eval(step *workflow.Step, c *workflow.Condition, levels int) (bool, error) {
	holds, err := c.Eval(func(key string) (any, bool) { return k.lookup(key, levels) })
	if failure, ok := errors.AsType[*workflow.EvalError](err); ok {
		return false, &Error{Kind: KindConditionEvalFailed, Step: step.ID, Path: k.path(step, levels), Eval: failure}
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
	return jsontext.Lookup(k.context, key)
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
	return jsontext.Lookup(object, rest)
}

// isSet reports whether the current step sees a value at a key. null counts as not set.
func (k *walker) isSet(key string) bool {
	v, _ := k.lookup(key, len(k.levels))
	return v != nil
}

// unset returns the keys that are not set.
func (k *walker) unset(keys []string) (missing []string) {
	for _, key := range keys {
		if !k.isSet(key) {
			missing = append(missing, key)
		}
	}
	return missing
}

// path returns the path of a step inside the first levels.
func (k *walker) path(step *workflow.Step, levels int) string { return k.loops(levels, step.ID).Path() }

// loops returns a position with the loops of the first levels.
func (k *walker) loops(levels int, step string) Position {
	p := Position{Step: step}
	for _, l := range k.levels[1:levels] {
		p.Loops = append(p.Loops, l.state)
	}
	return p
}

// position returns the position of the walker.
func (k *walker) position() (Position, error) {
	top := k.top()
	if top.at >= len(top.steps) { // seek stops there only at the end of the workflow
		return Position{}, nil
	}
	for i := 1; i < len(k.levels); i++ {
		if err := k.seal(i); err != nil {
			return Position{}, err
		}
	}
	return k.loops(len(k.levels), top.steps[top.at].ID), nil
}

// enter begins the loop of the current step; entered is false if it has no iteration.
func (k *walker) enter(step *workflow.Step) (entered bool, err error) {
	if missing := k.unset(step.Requires); len(missing) > 0 {
		return false, k.missing(step, missing...)
	}
	next := level{steps: step.Loop.Steps, owner: step, state: Loop{Step: step.ID, Iteration: 1}}
	switch l := step.Loop; l.Kind() {
	case "while":
		entered, err = k.eval(step, l.While, len(k.levels))
	case "until":
		entered = true
	case "times":
		next.state.Total, err = k.times(step)
		entered = next.state.Total > 0
	default:
		if next.items, err = k.items(step, len(k.levels)); err == nil {
			next.state.Total, err = k.limit(step, len(next.items), len(k.levels))
		}
		entered = next.state.Total > 0
	}
	if err != nil || !entered {
		return false, err
	}
	k.levels = append(k.levels, next)
	return true, nil
}

// repeat begins the next iteration of the innermost loop, or leaves it.
func (k *walker) repeat() error {
	again, err := k.again()
	if err != nil {
		return err
	}
	if again {
		top := k.top()
		top.state.Iteration++
		top.at = 0
		return nil
	}
	k.levels = k.levels[:len(k.levels)-1]
	k.top().at++
	return nil
}

// again reports whether the innermost loop has another iteration. The loop's own names are not visible in its
// condition.
func (k *walker) again() (bool, error) {
	top, outer := k.top(), len(k.levels)-1
	step := top.owner
	switch step.Loop.Kind() {
	case "times":
		return top.state.Iteration < top.state.Total, nil
	case "each":
		total, err := k.limit(step, len(top.items), outer) // items may have been added
		if err != nil {
			return false, err
		}
		if total != top.state.Total {
			top.state.Total, top.state.Items = total, ""
		}
		return top.state.Iteration < total, nil
	default:
		return k.conditionAsks(step, outer)
	}
}

// conditionAsks reports whether the condition of the innermost loop asks for another iteration, and the limit allows
// it.
func (k *walker) conditionAsks(step *workflow.Step, outer int) (bool, error) {
	l := step.Loop
	condition := l.While
	if condition == nil {
		condition = l.Until
	}
	holds, err := k.eval(step, condition, outer)
	if err != nil || holds == (l.Until != nil) {
		return false, err
	}
	if k.top().state.Iteration < l.MaxIterations {
		return true, nil
	}
	if l.OnLimit == workflow.LimitLeaves {
		return false, nil
	}
	return false, &Error{Kind: KindMaxIterationsExceeded, Step: step.ID, Path: k.path(step, outer), Limit: l.MaxIterations}
}

// times returns how often a loop with times repeats.
func (k *walker) times(step *workflow.Step) (int, error) {
	count := step.Loop.Times
	if count.Key == "" {
		return k.limit(step, count.N, len(k.levels))
	}
	v, _ := k.lookup(count.Key, len(k.levels))
	if v == nil {
		return 0, k.missing(step, count.Key)
	}
	n, ok := jsontext.Int(v)
	if !ok || n < 0 {
		return 0, k.invalid(step, count.Key, "want a whole number, 0 or more")
	}
	return k.limit(step, int(n), len(k.levels))
}

// limit returns n if the loop allows that many iterations.
func (k *walker) limit(step *workflow.Step, n, levels int) (int, error) {
	l := step.Loop
	if n <= l.MaxIterations {
		return n, nil
	}
	if l.OnLimit == workflow.LimitLeaves {
		return l.MaxIterations, nil
	}
	return 0, &Error{Kind: KindMaxIterationsExceeded, Step: step.ID, Path: k.path(step, levels), Limit: l.MaxIterations}
}

// items returns the list of a loop with each, looked up in the first levels.
func (k *walker) items(step *workflow.Step, levels int) ([]any, error) {
	v, _ := k.lookup(step.Loop.Each, levels)
	switch v := v.(type) {
	case nil:
		return nil, k.missing(step, step.Loop.Each)
	case []any:
		return v, nil
	default:
		return nil, k.invalid(step, step.Loop.Each, "want a list, got a value of type "+jsontext.TypeName(v))
	}
}

// sameItems returns the list of a loop that was entered before. Items may be added at its end while the loop runs;
// other changes would make the loop skip items or repeat them.
func (k *walker) sameItems(step *workflow.Step, state Loop) ([]any, error) {
	list, err := k.items(step, len(k.levels))
	if err != nil {
		return nil, err
	}
	if len(list) < state.Total {
		return nil, k.invalid(step, step.Loop.Each, fmt.Sprintf("the list had %d items when the loop was entered and has %d now; only add items at its end", state.Total, len(list)))
	}
	digest, err := k.digest(step, list[:state.Total])
	if err != nil {
		return nil, err
	}
	if digest != state.Items {
		return nil, k.invalid(step, step.Loop.Each, "items of the list changed while the loop was running; restore them, and only add items at the end")
	}
	return list, nil
}

// seal stores the digest of the list of a level in its state.
func (k *walker) seal(i int) (err error) {
	l := &k.levels[i]
	if l.owner.Loop.Kind() == "each" && l.state.Items == "" {
		l.state.Items, err = k.digest(l.owner, l.items[:l.state.Total])
	}
	return err
}

func (k *walker) digest(step *workflow.Step, items []any) (string, error) {
	text, err := jsontext.AppendCanonical(nil, items)
	if err != nil {
		return "", k.invalid(step, step.Loop.Each, err.Error())
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16]), nil
}

func (k *walker) invalid(step *workflow.Step, key, reason string) error {
	return &Error{Kind: KindInvalidLoop, Step: step.ID, Path: k.path(step, k.depth(step)), Key: key, Reason: reason}
}

func (k *walker) missing(step *workflow.Step, keys ...string) error {
	return &Error{Kind: KindMissingContext, Step: step.ID, Path: k.path(step, k.depth(step)), Keys: keys}
}

// depth returns the number of levels around a loop, which may already be entered.
func (k *walker) depth(step *workflow.Step) int {
	for i := range k.levels {
		if k.levels[i].owner == step {
			return i
		}
	}
	return len(k.levels)
}
