package workflow

import "slices"

// loop reads the loop of a step at a depth: 0 is not in a loop.
func (r *reader) loop(n *node, what string, depth int) *Loop {
	l := &Loop{}
	if depth >= MaxDepth {
		r.fail(n.at, "use fewer levels", "%s: more than %d loops inside each other", what, MaxDepth)
		return l
	}
	if r.mapping(n, what+": loop", r.loopFields(l, what, depth)) {
		r.loopKind(n, l, what)
	}
	return l
}

// loopFields lists the names that the loop defines before its steps, which use them.
func (r *reader) loopFields(l *Loop, what string, depth int) []field {
	condition := func(n *node) { l.Condition = r.condition(n, what+": loop") }
	return []field{
		{string(LoopWhile), "", condition},
		{string(LoopUntil), "", condition},
		{string(LoopTimes), "", func(n *node) { r.times(l, n, what) }},
		{string(LoopEach), "", r.key(&l.Each, what+": each")},
		{"as", "", r.name(&l.As, what+": as")},
		{"index", "", r.name(&l.Index, what+": index")},
		{"maxIterations", "maxIterations: a number from 1 to 1000, so that the loop ends", r.whole(&l.MaxIterations, what+": maxIterations", 1, MaxIterations)},
		{"onLimit", "", choice(r, &l.OnLimit, what+": onLimit", LimitFails, LimitLeaves)},
		{"steps", "steps: the steps to repeat", func(n *node) { r.loopSteps(l, n, what, depth) }},
	}
}

// loopKind finds the one kind that a loop must have, and fills in what depends on it.
func (r *reader) loopKind(n *node, l *Loop, what string) {
	for _, kind := range LoopKinds() {
		if n.get(string(kind)) == nil {
			continue
		}
		if l.Kind != "" {
			r.fail(n.at, "keep one of them", "%s: loop has both %s and %s", what, l.Kind, kind)
			return
		}
		l.Kind = kind
	}
	switch {
	case l.Kind == "":
		r.fail(n.at, "add while: or until: with a condition, times: with a number, or each: with the key of a list", "%s: loop does not say when it ends", what)
	case l.As != "" && l.Kind != LoopEach:
		r.fail(n.get("as").at, "remove it", "%s: only a loop with each can have as", what)
	case l.Kind == LoopTimes && l.Times.N > l.MaxIterations && l.MaxIterations > 0:
		r.fail(n.get(string(LoopTimes)).at, "raise maxIterations", "%s: %d times, but maxIterations is %d", what, l.Times.N, l.MaxIterations)
	}
	if l.OnLimit == "" {
		l.OnLimit = LimitFails
	}
}

// times reads a number or a context key.
func (r *reader) times(l *Loop, n *node, what string) {
	if n.kind == kindString {
		r.key(&l.Times.Key, what+": times")(n)
		return
	}
	r.whole(&l.Times.N, what+": times", 1, MaxIterations)(n)
}

// loopSteps reads the steps of a loop, which see the names that it defines.
func (r *reader) loopSteps(l *Loop, n *node, what string, depth int) {
	if l.As == "" && l.Each != "" {
		l.As = DefaultItem
	}
	inner := &scope{outer: r.scope}
	for _, name := range []string{l.As, l.Index} {
		if name == "" {
			continue
		}
		if inner.has(name) || slices.Contains(r.declared, name) {
			r.fail(n.at, "choose another name with as: or index:", "%s: the name %s is already a context key or belongs to a loop", what, quote(name))
		}
		inner.names = append(inner.names, name)
	}
	r.scope = inner
	l.Steps = r.stepList(n, what+": steps", depth+1)
	r.scope = inner.outer
}

// DefaultItem is the name of the current item in a loop with each that has no As.
const DefaultItem = "item"
