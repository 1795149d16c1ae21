package meter

import (
	"maps"
	"sync"
	"sync/atomic"
)

// grid holds one counter for each (tool, verdict, code). It grows by tool and by verdict, up to its limit.
type grid struct {
	other *row                            // for tools without a label
	rows  atomic.Pointer[map[string]*row] // copied on write, so that readers need no lock

	grow      sync.Mutex  // held to replace rows; guards seen and announced
	width     int         // number of codes
	max       int         // limit for announced names, and for names that were only seen
	seen      int         // rows for names that a failure carried
	announced int         // rows for names that were announced
	closed    atomic.Bool // names that were only seen get no new rows
}

func newGrid(maxTools, width int) *grid {
	g := &grid{max: maxTools, width: width}
	none, other := g.newRow(noTool), g.newRow(otherTool)
	g.other = other
	g.rows.Store(&map[string]*row{"": none, noTool: none, otherTool: other})
	return g
}

func (g *grid) newRow(tool string) *row { return &row{tool: tool, width: g.width} }

// row returns the counters of a tool. The name comes from a *candor.Error, so it is clean and bounded.
func (g *grid) row(tool string) *row {
	if r, ok := (*g.rows.Load())[tool]; ok {
		return r
	}
	if g.closed.Load() {
		return g.other
	}
	return g.admit(tool)
}

// admit adds a row for a name that was seen, if the limit allows it.
func (g *grid) admit(tool string) *row {
	g.grow.Lock()
	defer g.grow.Unlock()
	rows := *g.rows.Load()
	if r, ok := rows[tool]; ok {
		return r
	}
	if g.closed.Load() {
		return g.other
	}
	r := g.newRow(tool)
	rows = maps.Clone(rows)
	rows[tool] = r
	g.rows.Store(&rows)
	if g.seen++; g.seen == g.max {
		g.closed.Store(true)
	}
	return r
}

// announce adds rows for names, up to the limit, and stops adding rows for names that are only seen. The two have separate
// limits, so that invented names that came first do not displace real ones.
func (g *grid) announce(names []string) {
	g.grow.Lock()
	defer g.grow.Unlock()
	g.closed.Store(true)
	rows := maps.Clone(*g.rows.Load())
	for _, name := range names {
		if g.announced == g.max {
			break
		}
		name = Label(name)
		if _, ok := rows[name]; ok {
			continue
		}
		rows[name] = g.newRow(name)
		g.announced++
	}
	g.rows.Store(&rows)
}

// cell is the value of one counter.
type cell struct {
	tool    string
	verdict verdict
	slot    int
	count   uint64
}

// each yields every nonzero counter, reading each once.
func (g *grid) each(yield func(cell) bool) {
	for name, r := range *g.rows.Load() {
		if name == "" { // same row as None
			continue
		}
		if !r.each(yield) {
			return
		}
	}
}

// row holds the counters of one tool.
type row struct {
	tool  string
	width int
	cells [verdictCount]atomic.Pointer[[]atomic.Uint64] // by verdict, then by slot; made when first needed
}

func (r *row) add(v verdict, slot int, weight uint64) {
	cells := r.cells[v].Load()
	if cells == nil {
		made := make([]atomic.Uint64, r.width)
		if r.cells[v].CompareAndSwap(nil, &made) {
			cells = &made
		} else {
			cells = r.cells[v].Load()
		}
	}
	(*cells)[slot].Add(weight)
}

func (r *row) each(yield func(cell) bool) bool {
	for v := range r.cells {
		cells := r.cells[v].Load()
		if cells == nil {
			continue
		}
		for slot := range *cells {
			if n := (*cells)[slot].Load(); n > 0 && !yield(cell{r.tool, verdict(v), slot, n}) {
				return false
			}
		}
	}
	return true
}
