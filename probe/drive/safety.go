package drive

import (
	"slices"

	"github.com/candor-mcp/candor/probe"
	"github.com/candor-mcp/candor/wire"
)

// refuse returns why a case may not be made, "" if it may. Whoever made the plan has looked already: this is for the day it was wrong.
func (d *driver) refuse(c *probe.Case) string {
	if c.Fault != "" && d.o.Upstream == nil {
		return "there is no fake upstream"
	}
	if d.hangs[c.Tool] >= maxHangs {
		return "the tool did not answer in time too often"
	}
	if c.Expect == probe.ExpectRefusal || d.o.Yes {
		return ""
	}
	for _, name := range append(named(c), c.Tool) {
		tool := d.run.Tool(name)
		if tool != nil && !tool.IsReadOnly() && !slices.Contains(d.o.Allow, name) {
			return "the tool does not say that it is read-only, and the call might do something"
		}
	}
	return ""
}

// named returns the tools that the messages of a case call.
func named(c *probe.Case) []string {
	message := c.Raw
	if message == nil {
		message = []byte(`{"jsonrpc":"2.0","id":1,"method":` + string(wire.AppendString(nil, c.Method)) + `,"params":` + orNull(c.Params) + `}`)
	}
	m := wire.Parse(message, wire.Limits{MaxBytes: maxMessage})
	units := [][]byte{message}
	if batch, ok := m.SplitBatch(); ok {
		units = batch
	}
	var names []string
	for _, unit := range units {
		u := wire.Parse(unit, wire.Limits{MaxBytes: maxMessage})
		if name, ok := u.Params().Path("name").Str(); ok && u.MethodIs("tools/call") {
			names = append(names, name)
		}
	}
	return names
}

func orNull(params []byte) string {
	if params == nil {
		return "null"
	}
	return string(params)
}
