package workflow

import (
	"slices"
	"strings"

	"github.com/candor-mcp/candor/internal/near"
)

// workflow reads the root of a file.
func (r *reader) workflow(n *node) *Workflow {
	w := &Workflow{}
	r.mapping(n, "workflow", r.workflowFields(w))
	r.checkUses()
	return w
}

func (r *reader) workflowFields(w *Workflow) []field {
	var editorSchema string
	return []field{
		{"id", "id: a short name such as bug-hunt", r.id(&w.ID, "id")},
		{"name", "name: a title for people", r.text(&w.Name, "name", maxTitle)},
		{"version", "", r.text(&w.Version, "version", maxIDBytes)},
		{"description", "", r.text(&w.Description, "description", maxText)},
		{"guidance", "", r.texts(&w.Guidance, "guidance", maxText)},
		{"capabilities", "", func(n *node) { r.list(n, "capabilities", 1, maxListItems, func(n *node) { r.capability(w, n) }) }},
		{"context", "", func(n *node) { r.list(n, "context", 1, maxListItems, func(n *node) { r.contextKey(w, n) }) }},
		{"steps", "steps: a list of steps, each with an id and a prompt", func(n *node) { w.Steps = r.stepList(n, "steps", 0) }},
		{"$schema", "", r.text(&editorSchema, "$schema", maxText)},
	}
}

func (r *reader) capability(w *Workflow, n *node) {
	var c Capability
	r.mapping(n, "capability", []field{
		{"name", "name: a short name such as shell", r.id(&c.Name, "capability name")},
		{"description", "", r.text(&c.Description, "capability description", maxText)},
		{"required", "", r.flag(&c.Required, "required")},
	})
	r.unique(&r.capabilities, c.Name, n.at, "capability")
	w.Capabilities = append(w.Capabilities, c)
}

func (r *reader) contextKey(w *Workflow, n *node) {
	var k ContextKey
	r.mapping(n, "context key", []field{
		{"key", "key: a name such as testCommand", r.name(&k.Key, "context key")},
		{"description", "", r.text(&k.Description, "context key description", maxText)},
		{"required", "", r.flag(&k.Required, "required")},
	})
	r.unique(&r.declared, k.Key, n.at, "context key")
	w.Context = append(w.Context, k)
}

// checkUses warns of keys that are used and not declared, once each.
func (r *reader) checkUses() {
	warned := map[string]bool{}
	for _, u := range r.uses {
		name, _, _ := strings.Cut(u.key, ".")
		if warned[name] || u.scope.has(name) || slices.Contains(r.declared, name) {
			continue
		}
		warned[name] = true
		known := slices.Clone(r.declared)
		for s := u.scope; s != nil; s = s.outer {
			known = append(known, s.names...)
		}
		r.warn(u.at, near.Hint(name, known, "declare it under context:"), "context key %s is used but not declared", quote(name))
	}
}
