package workrail_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/candor-mcp/candor/wire"
)

// agent does the steps of a workflow. It knows the tools, copies tokens, and when a call fails it follows retry and
// suggestion. An agent without advice sees only the message of a failure: it sends the same call three times, then
// starts over.
type agent struct {
	h        *host
	workflow string
	goal     string
	advised  bool

	last     answer // the last answer with a step
	done     map[string][]string
	strikes  int // failures since the last success
	begun    int
	needless int // restarts although the session could have continued
}

// result is the result of a run.
type result struct {
	finished                  bool
	calls, begun, needless    int
	lost, doubled, needlessly int
}

func (g *agent) startCall() call {
	if g.begun > 0 && !g.h.dead[g.h.session] && g.h.session != "" {
		g.needless++
	}
	g.begun++
	g.h.session = ""
	return call{"start_workflow", args{"workflowId": g.workflow, "goal": g.goal, "context": maps.Clone(beginnings[g.workflow])}}
}

// resumeCall returns a call for the state of the session, by token if there is one.
func (g *agent) resumeCall(list bool) call {
	if g.h.session == "" || list {
		return call{"resume_session", args{}}
	}
	return call{"resume_session", args{"resumeToken": g.last.data("resumeToken")}}
}

// stepCall completes the pending step of the last answer.
func (g *agent) stepCall() call {
	in := args{"continueToken": g.last.token(), "notes": "did " + g.last.data("step", "path")}
	step := g.last.m.Result().Path("structuredContent", "step")
	if schema := step.Path("needs", "output"); schema.Present() {
		in["output"] = sample(schema)
	}
	context := args{"capabilities": args{"shell": true, "network": true}}
	for key := range step.Path("needs", "contextKeys").Elements() {
		name, _ := key.Str()
		context[name] = "v"
	}
	if key, _ := step.Path("needs", "answerKey").Str(); key != "" {
		context[key] = "yes"
	}
	id, _ := step.Path("id").Str()
	path, _ := step.Path("path").Str()
	maps.Copy(context, findings[id])
	maps.Copy(context, findings[path])
	in["context"] = context
	return call{"continue_workflow", in}
}

// run plays until the workflow is completed or the agent gives up.
func (g *agent) run() bool {
	c := g.startCall()
	for g.h.calls < 400 {
		before := c
		a, lost := g.h.do(&c)
		switch {
		case lost:
			c = g.resumeCall(false)
		case a.failed():
			g.strikes++
			next, ok := g.recover(c, a)
			if !ok {
				if g.advised {
					g.h.t.Logf("%s: gave up after %.600s", g.goal, a.envelope().Raw())
				}
				return false
			}
			c = next
		case c.tool == "resume_session" && len(c.in) == 0:
			c = g.choose(a)
		case c.tool == "list_workflows", c.tool == "export_session":
			c = g.startCall()
		default:
			g.strikes = 0
			g.acknowledge(before, a)
			if a.data("kind") == "completed" {
				return true
			}
			if a.data("kind") == "blocked" && strings.Contains(a.data("blockers", "blockers", 0, "suggestedFix"), "Ask the user") {
				g.h.askUser()
			}
			g.last = a
			c = g.stepCall()
		}
	}
	return false
}

// acknowledge records that a step was completed.
func (g *agent) acknowledge(c call, a answer) {
	g.h.session, g.h.resume = a.data("sessionId"), a.data("resumeToken")
	if c.tool == "continue_workflow" && a.data("kind") != "blocked" {
		id := a.data("sessionId")
		g.done[id] = append(g.done[id], g.last.data("step", "path"))
	}
}

// choose selects the agent's session from the list of open ones.
func (g *agent) choose(list answer) call {
	for m := range list.m.Result().Path("structuredContent", "sessions").Elements() {
		id, _ := m.Path("sessionId").Str()
		goal, _ := m.Path("goal").Str()
		if token, _ := m.Path("resumeToken").Str(); token != "" && (id == g.h.session || g.h.session == "" && goal == g.goal) {
			return call{"resume_session", args{"resumeToken": token}}
		}
	}
	return g.startCall()
}

// recover decides how to continue after a failure.
func (g *agent) recover(c call, a answer) (call, bool) {
	if !g.advised {
		switch {
		case g.strikes%3 != 0:
			return c, true // the same call
		case g.begun < 4:
			return g.startCall(), true
		default:
			return c, false
		}
	}
	if g.strikes > 12 {
		return c, false
	}
	retry := a.envelope().Path("retry")
	if after, ok := retry.Path("afterMs").Int64(); ok {
		time.Sleep(time.Duration(after) * time.Millisecond)
		return c, true
	}
	if retry.Path("kind").Is("retryable_immediate") {
		return c, true
	}
	suggestion, _ := a.canonical().Path("suggestion").Str()
	return g.follow(c, suggestion)
}

// follow follows a suggestion: correct the call, ask the user, or use the first tool that it names.
func (g *agent) follow(c call, suggestion string) (call, bool) {
	corrects := strings.HasPrefix(suggestion, "Correct") || strings.Contains(suggestion, "of the last answer") || strings.HasPrefix(suggestion, "Copy")
	if corrects && g.strikes < 3 {
		switch c.tool {
		case "continue_workflow":
			return g.stepCall(), true
		case "resume_session":
			return g.resumeCall(len(c.in) == 0), true
		case "start_workflow":
			g.begun--
			return g.startCall(), true
		default:
			return call{c.tool, args{}}, true
		}
	}
	if strings.Contains(suggestion, "the user") {
		g.h.askUser()
	}
	first, at := "", len(suggestion)
	for _, tool := range []string{"resume_session", "list_workflows", "export_session", "start_workflow"} {
		if i := strings.Index(suggestion, tool); i >= 0 && i < at {
			first, at = tool, i
		}
	}
	if strings.HasPrefix(suggestion, "Ask the user") {
		first = "resume_session"
	}
	switch first {
	case "resume_session":
		return g.resumeCall(strings.Contains(suggestion, "without arguments") || strings.Contains(suggestion, "to list")), true
	case "start_workflow":
		return g.startCall(), true
	case "list_workflows":
		return call{first, args{}}, true
	case "export_session":
		return call{first, args{"sessionId": g.h.session}}, true
	}
	return c, false
}

// beginnings has the initial contexts, findings the values that the agent adds after a step, by id or path.
var (
	beginnings = map[string]args{"bug-hunt": {"report": "r"}, "migration": {"goal": "g"}, "release": {"newVersion": "1.4.0"}}
	units      = []args{{"path": "a", "risk": "low", "test": "t"}, {"path": "b", "risk": "high", "test": "t"}}
	findings   = map[string]args{
		"reproduce":            {"reproduced": true, "reproduceCommand": "c", "expected": "e", "testCommand": "t"},
		"search[2].test":       {"rootCause": "c"},
		"inventory":            {"units": units, "oldUses": "o", "testCommand": "t"},
		"recipe":               {"recipe": "r"},
		"checks[1].run-checks": {"checksPassed": false, "commit": "c", "previousVersion": "1.3.0"},
		"checks[2].run-checks": {"checksPassed": true},
		"notes":                {"notes": "n"},
	}
)

// sample returns a value that is valid for a schema, as far as the examples need it.
func sample(schema wire.Value) any {
	if only := schema.Path("const"); only.Present() {
		return json.RawMessage(only.Raw())
	}
	if first := schema.Path("enum", 0); first.Present() {
		return json.RawMessage(first.Raw())
	}
	kind, _ := schema.Path("type").Str()
	switch kind {
	case "object":
		out := args{}
		for name := range schema.Path("required").Elements() {
			key, _ := name.Str()
			out[key] = sample(schema.Path("properties", key))
		}
		return out
	case "array":
		if n, _ := schema.Path("minItems").Int64(); n > 0 {
			return []any{sample(schema.Path("items"))}
		}
		return []any{}
	case "string":
		switch pattern, _ := schema.Path("pattern").Str(); {
		case strings.Contains(pattern, "{40}"):
			return strings.Repeat("a", 40)
		case strings.Contains(pattern, "{64}"):
			return strings.Repeat("a", 64)
		}
		return "a text that is long enough"
	case "boolean":
		return true
	default:
		return 1
	}
}

// play runs one agent and checks the recorded steps afterwards.
func play(t *testing.T, n int, advised bool, seen map[string]int) result {
	t.Helper()
	p := newPlace(t)
	h := &host{place: p, r: rand.New(rand.NewPCG(uint64(n), 14)), dead: map[string]bool{}, seen: seen}
	h.s, h.calls = h.start("--drill"), h.r.IntN(5)
	workflow := []string{"bug-hunt", "migration", "release"}[n%3]
	g := &agent{h: h, workflow: workflow, goal: fmt.Sprintf("run %d", n), advised: advised, done: map[string][]string{}}
	r := result{finished: g.run(), calls: h.calls, begun: g.begun, needless: g.needless}
	s := p.start()
	for id, done := range g.done {
		if h.dead[id] && !(id == h.session && r.finished) {
			continue
		}
		recorded := s.steps(id)
		for i, step := range done {
			if i >= len(recorded) || !slices.Contains(recorded, step) {
				r.lost++
			}
		}
		sorted := slices.Sorted(slices.Values(recorded))
		r.doubled += len(recorded) - len(slices.Compact(sorted))
		if id != h.session {
			r.needlessly += len(recorded) // steps that were repeated in another session
		}
	}
	s.End()
	h.s.End()
	return r
}

var agents = flag.Int("agents", 0, "how many runs each scripted agent plays; 0 is 6, and 1,000 with -long")

func agentRuns() int {
	if *agents > 0 {
		return *agents
	}
	return rounds(6, 1000)
}

// playAll plays many runs, four at a time, and returns their sum and the number of completed runs.
func playAll(t *testing.T, runs int, advised bool) (sum result, finished int) {
	t.Helper()
	var mu sync.Mutex
	seen := map[string]int{}
	next := make(chan int, runs)
	for n := range runs {
		next <- n
	}
	close(next)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for n := range next {
				own := map[string]int{}
				r := play(t, n, advised, own)
				mu.Lock()
				if r.finished {
					finished++
				}
				sum.add(r)
				for k, v := range own {
					seen[k] += v
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	t.Logf("advised %t: %d of %d runs finished, %d calls, %d sessions begun, %d of them needlessly, %d steps done again for that, %d lost, %d recorded twice",
		advised, finished, runs, sum.calls, sum.begun, sum.needless, sum.needlessly, sum.lost, sum.doubled)
	t.Logf("%v", seen)
	if sum.lost+sum.doubled > 0 {
		t.Errorf("%d steps were lost and %d recorded twice", sum.lost, sum.doubled)
	}
	return sum, finished
}

func (r *result) add(o result) {
	r.calls, r.begun, r.needless = r.calls+o.calls, r.begun+o.begun, r.needless+o.needless
	r.lost, r.doubled, r.needlessly = r.lost+o.lost, r.doubled+o.doubled, r.needlessly+o.needlessly
}

// TestScriptedAgentFinishes checks that agents complete every example workflow while every fifth call fails.
func TestScriptedAgentFinishes(t *testing.T) {
	t.Parallel()
	runs := agentRuns()
	sum, finished := playAll(t, runs, true)
	if finished != runs || sum.needless > 0 {
		t.Errorf("%d of %d runs finished, %d began anew needlessly", finished, runs, sum.needless)
	}
}

// TestAgentWithoutAdviceDoesNot runs the same agent with only the message of a failure.
func TestAgentWithoutAdviceDoesNot(t *testing.T) {
	t.Parallel()
	runs := agentRuns()
	sum, finished := playAll(t, runs, false)
	if finished == runs && sum.needless == 0 {
		t.Error("it does as well as with advice: the comparison proves nothing")
	}
}
