package candortest

import (
	"errors"
	"slices"

	"github.com/candor-mcp/candor/wire"
)

const parallel = 50

var loadChecks = []check{
	{Rule: Rule{ID: "parallel-failures", Level: Protocol,
		Title: "50 failing calls at once each get exactly one answer, with their own id.",
		Why:   "Errors are where answers get lost, doubled or mixed up, and that is seen only when there are many.",
		Want:  "50 answers with 50 different ids.",
		Fix:   "Keep the id with the call, and write answers from one place."},
		run: opened(parallelFailures)},
}

func parallelFailures(v *visit, c *client) ruling {
	failing := Call{"candortest_no_such_tool", `{}`}
	if len(v.tour.o.Failing) > 0 {
		failing = v.tour.o.Failing[0]
	}
	open := map[string]bool{}
	for range parallel {
		raw, id := c.request("tools/call", failing.params())
		if err := c.send(v.ctx, raw); err != nil {
			return bad("%v", err)
		}
		open[id] = true
	}
	var strange []string
	count := 0
	err := c.receive(v.ctx, c.wait(), func(s said) bool {
		id := string(s.msg.ID())
		if (!open[id] || s.msg.Err() != nil) && len(strange) < parallel {
			strange = append(strange, id)
		}
		if _, ours := open[id]; ours {
			open[id] = false
		}
		count++
		return count == parallel && c.http == nil
	})
	if c.http == nil && err == nil { // a surplus answer would arrive now
		err = c.receive(v.ctx, c.o.Silence, func(s said) bool { strange = append(strange, string(s.msg.ID())); return true })
	}
	missing := 0
	for _, waiting := range open {
		if waiting {
			missing++
		}
	}
	switch {
	case missing > 0:
		return bad("%d of %d calls were not answered: %v", missing, parallel, err)
	case len(strange) > 0:
		slices.Sort(strange)
		return bad("%d answers are malformed or carry an id that is not open, such as %s", len(strange), show(wire.ID(strange[0])))
	case c.http != nil && !errors.Is(err, ErrQuiet):
		return bad("%v", err)
	}
	return good()
}
