package workflow

import (
	"slices"
	"strings"

	"github.com/candor-mcp/candor/internal/near"
	"github.com/candor-mcp/candor/internal/schema"
)

// stepList reads the steps of a workflow, or of a loop at a depth.
func (r *reader) stepList(n *node, what string, depth int) []Step {
	var steps []Step
	r.list(n, what, 1, MaxSteps, func(n *node) {
		if r.steps++; r.steps > MaxSteps {
			if r.steps == MaxSteps+1 {
				r.fail(n.at, "split the workflow", "steps: more than %d, those in loops included", MaxSteps)
			}
			return
		}
		steps = append(steps, r.step(n, depth))
	})
	return steps
}

func (r *reader) step(n *node, depth int) Step {
	s := Step{}
	what := "step"
	if id := n.get("id"); id != nil && id.kind == kindString {
		what = "step " + quote(id.text)
	}
	ok := r.mapping(n, what, r.stepFields(&s, what, depth))
	r.stepID(n, s.ID)
	switch hasPrompt, hasLoop := n.get("prompt") != nil, n.get("loop") != nil; {
	case hasLoop:
		r.loopStep(n, what)
	case !hasPrompt && ok:
		r.fail(n.at, "add prompt: what the agent is to do", "%s: has neither a prompt nor a loop", what)
	case s.Notes == "":
		s.Notes = NotesRequired
	}
	return s
}

func (r *reader) stepFields(s *Step, what string, depth int) []field {
	return []field{
		{"id", "id: a short name such as reproduce", r.id(&s.ID, "step id")},
		{"title", "", r.text(&s.Title, what+": title", maxTitle)},
		{"prompt", "", func(n *node) { r.prompt(&s.Prompt, n, what+": prompt", MaxPromptBytes) }},
		{"guidance", "", r.texts(&s.Guidance, what+": guidance", maxText)},
		{"requires", "", func(n *node) { s.Requires = r.keys(n, what+": requires") }},
		{"when", "", func(n *node) { s.When = r.condition(n, what+": when") }},
		{"notes", "", choice(r, &s.Notes, what+": notes", NotesRequired, NotesOptional, NotesNone)},
		{"output", "", func(n *node) { s.Output = r.output(n, what) }},
		{"capabilities", "", func(n *node) { s.Capabilities = r.needed(n, what+": capabilities") }},
		{"askUser", "", func(n *node) { s.AskUser = r.question(n, what) }},
		{"loop", "", func(n *node) { s.Loop = r.loop(n, what, depth) }},
	}
}

// stepID reports an ID that another step has.
func (r *reader) stepID(n *node, id string) {
	if id == "" {
		return
	}
	if r.stepIDs[id] {
		r.fail(n.get("id").at, "give every step its own id, also in different loops", "step id %s appears twice", quote(id))
	}
	r.stepIDs[id] = true
}

// loopStep reports the keys that a step with a loop cannot have.
func (r *reader) loopStep(n *node, what string) {
	for _, p := range n.pairs {
		switch p.name {
		case "prompt", "guidance", "notes", "output", "capabilities", "askUser":
			r.fail(p.at, "move it into a step of the loop", "%s: a step with a loop cannot have %s", what, p.name)
		}
	}
}

// prompt reads a text with placeholders.
func (r *reader) prompt(into *string, n *node, what string, limit int) {
	r.text(into, what, limit)(n)
	Expand(*into, func(key string) (string, bool) {
		r.uses = append(r.uses, use{key, n.at, r.scope})
		return "", false
	})
}

// keys reads a list of context keys.
func (r *reader) keys(n *node, what string) []string {
	var keys []string
	r.list(n, what, 1, maxListItems, func(n *node) {
		var key string
		r.key(&key, what)(n)
		r.unique(&keys, key, n.at, what+":")
	})
	return keys
}

// needed reads the names of capabilities, which the workflow must declare.
func (r *reader) needed(n *node, what string) []string {
	var names []string
	r.list(n, what, 1, maxListItems, func(n *node) {
		var name string
		if r.id(&name, what)(n); name != "" && !slices.Contains(r.capabilities, name) {
			r.fail(n.at, near.Hint(name, r.capabilities, "declare it under capabilities: of the workflow"), "%s: capability %s is not declared", what, quote(name))
		}
		r.unique(&names, name, n.at, what+":")
	})
	return names
}

func (r *reader) question(n *node, what string) *Question {
	q := &Question{}
	r.mapping(n, what+": askUser", []field{
		{"question", "question: what to ask", func(n *node) { r.prompt(&q.Question, n, "question", maxText) }},
		{"key", "key: the context key of the answer", r.name(&q.Key, "askUser key")},
	})
	if q.Key != "" {
		if r.scope != nil {
			r.warn(n.at, "ask before the loop", "%s: askUser in a loop asks only once, because %s keeps its value", what, quote(q.Key))
		}
		r.declared = append(r.declared, q.Key)
	}
	return q
}

func (r *reader) output(n *node, what string) *Output {
	o := &Output{}
	r.mapping(n, what+": output", []field{
		{"description", "", r.text(&o.Description, what+": output description", maxText)},
		{"schema", "", func(n *node) { r.schema(o, n, what) }},
		{"optional", "", r.flag(&o.Optional, what+": optional")},
	})
	return o
}

// schema reads a JSON Schema and checks that it can be used.
func (r *reader) schema(o *Output, n *node, what string) {
	if !r.want(n, kindMapping, what+": schema", "give a JSON Schema such as {type: object}") {
		return
	}
	raw, err := n.raw()
	if err == nil {
		_, err = schema.Compile(raw)
	}
	if err != nil {
		r.fail(n.at, "see json-schema.org; references to other files are not loaded", "%s: schema: %s", what, firstLine(err.Error()))
		return
	}
	o.Schema = raw
}

// firstLine returns the beginning of a message of another package.
func firstLine(text string) string {
	const limit = 200
	text, _, _ = strings.Cut(text, "\n")
	if len(text) > limit {
		text = strings.ToValidUTF8(text[:limit], "") + "…"
	}
	return text
}
