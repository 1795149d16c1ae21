package workflow

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/candor-mcp/candor/cmd/internal/yamlfile"
	"github.com/candor-mcp/candor/internal/schema"
	"github.com/candor-mcp/candor/internal/similar"
)

// checker checks the rules that the schema cannot express, and fills in defaults.
type checker struct {
	*file

	steps        int
	stepIDs      map[string]bool
	capabilities []string
	declared     []string // context keys, and the names of the loops around the current step
}

func (c *checker) workflow(w *Workflow) {
	c.text("/name", &w.Name, maxTitle)
	c.text("/version", &w.Version, maxVersion)
	c.text("/description", &w.Description, maxText)
	c.texts("/guidance", w.Guidance)
	for i := range w.Capabilities {
		at, v := item("/capabilities", i), &w.Capabilities[i]
		c.text(at+"/description", &v.Description, maxText)
		c.unique(at+"/name", &c.capabilities, v.Name)
	}
	for i := range w.Context {
		at, v := item("/context", i), &w.Context[i]
		c.text(at+"/description", &v.Description, maxText)
		c.unique(at+"/key", &c.declared, v.Key)
	}
	c.stepList("/steps", w.Steps, 0)
}

// item returns the pointer to an item of a list.
func item(list string, i int) string { return list + "/" + strconv.Itoa(i) }

// text trims a text and checks its size in bytes.
func (c *checker) text(at string, text *string, limit int) {
	*text = strings.TrimSpace(strings.ReplaceAll(*text, "\r\n", "\n"))
	switch {
	case len(*text) > limit:
		c.fail(at, "make it shorter", "%d bytes, limit %d", len(*text), limit)
	case strings.ContainsFunc(*text, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }):
		c.fail(at, "remove it", "contains a control character")
	}
}

func (c *checker) texts(at string, list []string) {
	for i := range list {
		c.text(item(at, i), &list[i], maxText)
	}
}

// unique appends a name to a list that must not have it.
func (c *checker) unique(at string, list *[]string, name string) {
	if slices.Contains(*list, name) {
		c.fail(at, "keep one of them", "%s appears twice", yamlfile.Quote(name))
	}
	*list = append(*list, name)
}

// stepList checks the steps of a workflow, or of a loop at a depth.
func (c *checker) stepList(at string, steps []Step, depth int) {
	for i := range steps {
		if c.steps++; c.steps == MaxSteps+1 {
			c.fail(item(at, i), "split the workflow", "more than %d steps, those in loops included", MaxSteps)
		}
		if c.steps > MaxSteps {
			return
		}
		c.step(item(at, i), &steps[i], depth)
	}
}

func (c *checker) step(at string, s *Step, depth int) {
	if c.stepIDs[s.ID] {
		c.fail(at+"/id", "give every step its own id, also in different loops", "step id %s appears twice", yamlfile.Quote(s.ID))
	}
	c.stepIDs[s.ID] = true
	c.text(at+"/title", &s.Title, maxTitle)
	c.text(at+"/prompt", &s.Prompt, MaxPromptBytes)
	c.texts(at+"/guidance", s.Guidance)
	c.condition(at+"/when", s.When)
	for i, name := range s.Capabilities {
		if !slices.Contains(c.capabilities, name) {
			declare := similar.Hint(name, c.capabilities, "declare it under capabilities: of the workflow")
			c.fail(item(at+"/capabilities", i), declare, "capability %s is not declared", yamlfile.Quote(name))
		}
	}
	if s.AskUser != nil {
		c.text(at+"/askUser/question", &s.AskUser.Question, maxText)
	}
	if s.Output != nil {
		c.output(at+"/output", s.Output)
	}
	switch {
	case s.Loop != nil:
		c.loop(at+"/loop", s.Loop, depth)
	case s.Notes == "":
		s.Notes = NotesRequired
	}
}

func (c *checker) output(at string, o *Output) {
	c.text(at+"/description", &o.Description, maxText)
	if o.Schema == nil {
		return
	}
	if _, err := schema.Compile(o.Schema); err != nil {
		c.fail(at+"/schema", "see json-schema.org; references to other files are not loaded", "%s", firstLine(err.Error()))
	}
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

// defaultItem is the name of the current item in a loop with each that has no As.
const defaultItem = "item"

// loop checks a loop at a depth: 0 is not in a loop.
func (c *checker) loop(at string, l *Loop, depth int) {
	if depth >= MaxDepth {
		c.fail(at, "use fewer levels", "more than %d loops inside each other", MaxDepth)
		return
	}
	c.condition(at+"/while", l.While)
	c.condition(at+"/until", l.Until)
	if l.Times != nil && l.Times.N > l.MaxIterations {
		c.fail(at+"/times", "raise maxIterations", "%d times, but maxIterations is %d", l.Times.N, l.MaxIterations)
	}
	if l.OnLimit == "" {
		l.OnLimit = LimitFails
	}
	if l.As == "" && l.Each != "" {
		l.As = defaultItem
	}
	outer := c.declared
	for _, name := range []string{l.As, l.Index} {
		if slices.Contains(c.declared, name) {
			c.fail(at+"/steps", "choose another name with as: or index:", "the name %s is already a context key or belongs to a loop", yamlfile.Quote(name))
		}
		if name != "" {
			c.declared = append(slices.Clip(c.declared), name)
		}
	}
	c.stepList(at+"/steps", l.Steps, depth+1)
	c.declared = outer
}

// condition compiles the regular expressions of a condition, which may be nil.
func (c *checker) condition(at string, v *Condition) {
	switch {
	case v == nil:
	case v.Op == OpNot:
		c.condition(at+"/not", &v.Of[0])
	case v.Op == OpMatches:
		var err error
		text, _ := v.Value.(string)
		if v.pattern, err = regexp.Compile(text); err != nil {
			c.fail(at+"/matches", "see the syntax of Go's regexp package", "%s", firstLine(err.Error()))
		}
	default:
		for i := range v.Of {
			c.condition(item(at+"/"+string(v.Op), i), &v.Of[i])
		}
	}
}
