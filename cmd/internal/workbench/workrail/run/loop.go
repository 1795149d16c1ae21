package run

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/candor-mcp/candor/cmd/internal/jsonvalue"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/workflow"
)

// checkLoop returns an error for a loop that [workflow.Parse] would not accept.
func (k *walker) checkLoop(step *workflow.Step) error {
	l := step.Loop
	condition := l.Kind == workflow.LoopWhile || l.Kind == workflow.LoopUntil
	switch {
	case len(l.Steps) == 0:
		return k.invalid(step, "", "no steps")
	case l.MaxIterations < 1 || l.MaxIterations > workflow.MaxIterations:
		return k.invalid(step, "", fmt.Sprintf("limit of %d iterations, want 1 to %d", l.MaxIterations, workflow.MaxIterations))
	case condition && l.Condition == nil:
		return k.invalid(step, "", "no condition")
	case !condition && l.Kind != workflow.LoopTimes && l.Kind != workflow.LoopEach:
		return k.invalid(step, "", fmt.Sprintf("unknown kind %.20q", l.Kind))
	case len(k.levels) > workflow.MaxDepth:
		return k.invalid(step, "", fmt.Sprintf("more than %d loops inside each other", workflow.MaxDepth))
	}
	return nil
}

// enter begins the loop of the current step; entered is false if it has no iteration.
func (k *walker) enter(step *workflow.Step) (entered bool, err error) {
	if err := k.checkLoop(step); err != nil {
		return false, err
	}
	var missing []string
	for _, key := range step.Requires {
		if !k.isSet(key) {
			missing = append(missing, key)
		}
	}
	if len(missing) > 0 {
		return false, k.missing(step, missing...)
	}
	next := level{steps: step.Loop.Steps, owner: step, state: Loop{Step: step.ID, Iteration: 1}}
	switch l := step.Loop; l.Kind {
	case workflow.LoopWhile:
		entered, err = k.eval(step, l.Condition, len(k.levels))
	case workflow.LoopUntil:
		entered = true
	case workflow.LoopTimes:
		next.state.Total, err = k.times(step)
		entered = next.state.Total > 0
	case workflow.LoopEach:
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

// again reports whether the innermost loop has another iteration. The loop's own names are not visible in its condition.
func (k *walker) again() (bool, error) {
	top, outer := k.top(), len(k.levels)-1
	step := top.owner
	switch step.Loop.Kind {
	case workflow.LoopTimes:
		return top.state.Iteration < top.state.Total, nil
	case workflow.LoopEach:
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

// conditionAsks reports whether the condition of the innermost loop asks for another iteration, and the limit allows it.
func (k *walker) conditionAsks(step *workflow.Step, outer int) (bool, error) {
	l := step.Loop
	holds, err := k.eval(step, l.Condition, outer)
	if err != nil || holds == (l.Kind == workflow.LoopUntil) {
		return false, err
	}
	if k.top().state.Iteration < l.MaxIterations {
		return true, nil
	}
	if l.OnLimit == workflow.LimitLeaves {
		return false, nil
	}
	return false, &MaxIterationsExceeded{Step: step.ID, Path: k.path(step, outer), Limit: l.MaxIterations}
}

// times returns how often a loop with times repeats.
func (k *walker) times(step *workflow.Step) (int, error) {
	count := step.Loop.Times
	if count.Key == "" {
		return k.limit(step, max(count.N, 0), len(k.levels))
	}
	v, _ := k.lookup(count.Key, len(k.levels))
	if v == nil {
		return 0, k.missing(step, count.Key)
	}
	n, ok := jsonvalue.Int(v)
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
	return 0, &MaxIterationsExceeded{Step: step.ID, Path: k.path(step, levels), Limit: l.MaxIterations, Wanted: n}
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
		return nil, k.invalid(step, step.Loop.Each, "want a list, got a value of type "+jsonvalue.TypeName(v))
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
	if l.owner.Loop.Kind == workflow.LoopEach && l.state.Items == "" {
		l.state.Items, err = k.digest(l.owner, l.items[:l.state.Total])
	}
	return err
}

func (k *walker) digest(step *workflow.Step, items []any) (string, error) {
	text, err := jsonvalue.Append(nil, items)
	if err != nil {
		return "", k.invalid(step, step.Loop.Each, err.Error())
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16]), nil
}

func (k *walker) invalid(step *workflow.Step, key, reason string) error {
	return &InvalidLoop{Step: step.ID, Path: k.path(step, k.depth(step)), Key: key, Reason: reason}
}

func (k *walker) missing(step *workflow.Step, keys ...string) error {
	return &MissingContext{Step: step.ID, Path: k.path(step, k.depth(step)), Keys: keys}
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
