package run_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/run"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/workflow"
)

// TestWalkVisitsWhatAnInterpreterVisits walks random workflows with a context that changes at every step, and compares
// the visited steps and the final error with those of a recursive interpreter.
func TestWalkVisitsWhatAnInterpreterVisits(t *testing.T) {
	t.Parallel()
	const runs = 1000
	kinds := map[string]int{}
	for seed := range uint64(runs) {
		g := &generator{random: rand.New(rand.NewPCG(seed, 1))}
		w := &workflow.Workflow{ID: "w", Name: "W", Steps: g.steps(0)}
		text, err := w.JSON()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := workflow.Parse("w.json", text); err != nil {
			t.Fatalf("seed %d: generated a workflow that is not valid: %v", seed, err)
		}

		context := initial(seed)
		in := &interpreter{context: context, change: changes(seed, context)}
		end := in.list(w.Steps, nil, "")
		want := strings.Join(append(in.visited, end), " ")
		kinds[end]++

		context = initial(seed)
		change := changes(seed, context)
		paths, err := walk(t, w, context, func(string) { change() })
		got := ""
		if e, ok := err.(run.Error); ok { //nolint:errorlint // errors of this package are not wrapped
			got = string(e.Kind())
		}
		if got = strings.Join(append(paths, got), " "); got != want {
			t.Fatalf("seed %d: %s\n got %s\nwant %s", seed, text, got, want)
		}
	}
	for _, kind := range []string{"", string(run.KindMaxIterationsExceeded), string(run.KindConditionEvalFailed), string(run.KindInvalidLoop), string(run.KindMissingContext)} {
		if kinds[kind] < runs/100 {
			t.Errorf("only %d of %d runs ended with %q", kinds[kind], runs, kind)
		}
	}
}

// initial returns the context at the start. The list x does not change later, so that loops over it stay valid.
func initial(seed uint64) map[string]any {
	return map[string]any{"x": []any{1.0, 2.0, 3.0}[:seed%4], "count": float64(seed % 3), "a": 0.0, "b": true, "text": "t"}
}

// changes returns a function that changes the context, in the same way for the same seed.
func changes(seed uint64, context map[string]any) func() {
	random := rand.New(rand.NewPCG(seed, 2))
	return func() {
		context["a"] = float64(random.IntN(5))
		context["b"] = random.IntN(2) == 0
		context["count"] = float64(random.IntN(4))
	}
}

// generator generates workflows.
type generator struct {
	random *rand.Rand
	ids    int
}

func (g *generator) steps(depth int) []workflow.Step {
	steps := make([]workflow.Step, 0, 4)
	for range 1 + g.random.IntN(3) {
		g.ids++
		s := workflow.Step{ID: fmt.Sprintf("s%d", g.ids)}
		if g.random.IntN(3) == 0 {
			s.When = g.condition(0)
		}
		if depth < 3 && g.random.IntN(5) < 2 {
			s.Loop = g.loop(depth)
		} else {
			s.Prompt, s.Notes = "p", workflow.NotesRequired
		}
		steps = append(steps, s)
	}
	return steps
}

func (g *generator) loop(depth int) *workflow.Loop {
	g.ids++
	l := &workflow.Loop{Kind: workflow.LoopKinds()[g.random.IntN(4)], MaxIterations: 1 + g.random.IntN(5), OnLimit: workflow.LimitFails}
	if g.random.IntN(2) == 0 {
		l.OnLimit = workflow.LimitLeaves
	}
	l.Index = fmt.Sprintf("i%d", g.ids)
	switch l.Kind {
	case workflow.LoopWhile, workflow.LoopUntil:
		l.Condition = g.condition(0)
	case workflow.LoopTimes:
		l.Times = workflow.Count{Key: g.pick("count", "count", "count", "count", "text", "missing")}
		if g.random.IntN(2) == 0 {
			l.Times = workflow.Count{N: 1 + g.random.IntN(l.MaxIterations)}
		}
	case workflow.LoopEach:
		l.As, l.Each = fmt.Sprintf("u%d", g.ids), g.pick("x", "x", "x", "x", "x", "text", "missing")
	}
	l.Steps = g.steps(depth + 1)
	return l
}

func (g *generator) pick(words ...string) string { return words[g.random.IntN(len(words))] }

// condition generates conditions on a and b, on the names of loops, which may not be visible, and rarely one that
// fails.
func (g *generator) condition(depth int) *workflow.Condition {
	if depth < 2 && g.random.IntN(3) == 0 {
		c := &workflow.Condition{Op: workflow.Operator(g.pick("all", "any", "not"))}
		count := 1
		if c.Op != workflow.OpNot {
			count += g.random.IntN(2)
		}
		for range count {
			c.Of = append(c.Of, *g.condition(depth + 1))
		}
		return c
	}
	value := float64(g.random.IntN(5))
	switch g.random.IntN(8) {
	case 0:
		return &workflow.Condition{Op: workflow.OpEquals, Key: "b", Value: true}
	case 1:
		return &workflow.Condition{Op: workflow.OpAtLeast, Key: fmt.Sprintf("i%d", 1+g.random.IntN(g.ids+1)), Value: value}
	case 2:
		return &workflow.Condition{Op: workflow.OpExists, Key: fmt.Sprintf("u%d", 1+g.random.IntN(g.ids+1)), Value: true}
	case 3:
		if g.random.IntN(3) == 0 {
			return &workflow.Condition{Op: workflow.OpAtLeast, Key: "text", Value: value}
		}
		return &workflow.Condition{Op: workflow.OpEquals, Key: "b", Value: false}
	default:
		return &workflow.Condition{Op: workflow.OpAtLeast, Key: "a", Value: value}
	}
}

// interpreter runs a workflow by simple recursion. Its results are paths, and the kind of an error or "".
type interpreter struct {
	context map[string]any
	change  func()
	visited []string
}

func (in *interpreter) list(steps []workflow.Step, names map[string]any, prefix string) (failure string) {
	for _, s := range steps {
		if s.When != nil {
			holds, failed := in.holds(s.When, names)
			if failed {
				return string(run.KindConditionEvalFailed)
			}
			if !holds {
				continue
			}
		}
		if s.Loop == nil {
			in.visited = append(in.visited, prefix+s.ID)
			in.change()
			continue
		}
		if failure := in.loop(s, names, prefix); failure != "" {
			return failure
		}
	}
	return ""
}

func (in *interpreter) loop(s workflow.Step, names map[string]any, prefix string) (failure string) {
	l := s.Loop
	total, items := -1, []any(nil)
	switch {
	case l.Kind == workflow.LoopTimes && l.Times.Key == "":
		total = l.Times.N
	case l.Kind == workflow.LoopTimes && l.Times.Key == "count":
		n, _ := in.context["count"].(float64)
		total = int(n)
	case l.Kind == workflow.LoopEach && l.Each == "x":
		items, _ = in.context["x"].([]any)
		total = len(items)
	case l.Times.Key == "missing" || l.Each == "missing":
		return string(run.KindMissingContext)
	case l.Times.Key == "text" || l.Each == "text":
		return string(run.KindInvalidLoop)
	}
	if total > l.MaxIterations {
		if l.OnLimit == workflow.LimitFails {
			return string(run.KindMaxIterationsExceeded)
		}
		total = l.MaxIterations
	}
	for i := 1; ; i++ {
		more := i <= total
		if l.Kind == workflow.LoopWhile || l.Kind == workflow.LoopUntil && i > 1 {
			holds, failed := in.holds(l.Condition, names)
			if failed {
				return string(run.KindConditionEvalFailed)
			}
			more = holds == (l.Kind == workflow.LoopWhile)
		} else if l.Kind == workflow.LoopUntil {
			more = true
		}
		if !more {
			return ""
		}
		if i > l.MaxIterations {
			if l.OnLimit == workflow.LimitLeaves {
				return ""
			}
			return string(run.KindMaxIterationsExceeded)
		}
		inner := maps.Clone(names)
		if inner == nil {
			inner = map[string]any{}
		}
		inner[l.Index] = float64(i)
		if items != nil {
			inner[l.As] = items[i-1]
		}
		if failure := in.list(l.Steps, inner, fmt.Sprintf("%s%s[%d].", prefix, s.ID, i)); failure != "" {
			return failure
		}
	}
}

// holds evaluates the conditions that the generator generates.
func (in *interpreter) holds(c *workflow.Condition, names map[string]any) (holds, failed bool) {
	switch c.Op {
	case workflow.OpAll, workflow.OpAny:
		for i := range c.Of {
			if holds, failed = in.holds(&c.Of[i], names); failed || holds == (c.Op == workflow.OpAny) {
				return holds, failed
			}
		}
		return c.Op == workflow.OpAll, false
	case workflow.OpNot:
		holds, failed = in.holds(&c.Of[0], names)
		return !holds, failed
	default:
		return in.compare(c, names)
	}
}

func (in *interpreter) compare(c *workflow.Condition, names map[string]any) (holds, failed bool) {
	v, ok := names[c.Key]
	if !ok {
		v, ok = in.context[c.Key]
	}
	switch c.Op {
	case workflow.OpExists:
		return ok, false
	case workflow.OpAtLeast:
		if !ok {
			return false, false
		}
		n, isNumber := v.(float64)
		limit, _ := c.Value.(float64)
		return n >= limit, !isNumber
	default:
		return ok && v == c.Value, false
	}
}
