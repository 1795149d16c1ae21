package driver

import (
	"cmp"
	"slices"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/internal/jsontext"
	"github.com/candor-mcp/candor/internal/probe"
	"github.com/candor-mcp/candor/wire"
)

// refuse returns why a case must not run, "" if it may. The plan follows the same rules; this is a second check.
func (d *driver) refuse(c *probe.Case) string {
	if c.Fault != "" && d.o.Upstream == nil {
		return "there is no fake upstream"
	}
	if d.hangs[c.Tool] >= maxHangs {
		return "the tool has not answered in time too often"
	}
	for _, name := range append(named(c), c.Tool) {
		if d.careful(name, c) && !c.Refusable() {
			return "the tool is not declared read-only, and the call may have effects"
		}
	}
	if !d.careful(c.Tool, c) {
		return ""
	}
	if sign := d.ran[c.Tool]; sign != "" {
		return "the tool " + sign + ", so it may have run; --allow " + c.Tool + " includes the other cases"
	}
	if c.Care == probe.CareFirst && d.lax {
		return "it may destroy data, and the server does not refuse calls without required arguments; --allow " + c.Tool + " includes it"
	}
	return ""
}

// careful reports whether a tool may not be called with valid arguments.
func (d *driver) careful(name string, c *probe.Case) bool {
	if d.o.Yes || name == "" || slices.Contains(d.o.Allow, name) {
		return false
	}
	tool := d.run.Tool(name)
	return tool != nil && !tool.IsReadOnly() || c.Care != "" && name == c.Tool
}

// watch records the first sign that a tool ran a call that it had to refuse.
func (d *driver) watch(o *probe.Observation) {
	c := &o.Case
	if c.Tool == "" || !c.Refusable() || d.ran[c.Tool] != "" {
		return
	}
	sign := signOfRunning(o)
	if sign == "" {
		return
	}
	d.lax = true
	if d.careful(c.Tool, c) {
		d.ran[c.Tool] = sign
	}
}

// signOfRunning returns the sign that a tool ran a call that it had to refuse, "" if it refused the call. Only an
// answer about an invalid call, or about missing setup, is a refusal.
func signOfRunning(o *probe.Observation) string {
	switch {
	case o.Hits > 0:
		return "sent a request to its upstream"
	case o.Outcome == probe.OutcomeCrash:
		return "ended the server"
	case o.Outcome != probe.OutcomeAnswered:
		return "did not answer"
	}
	request, response := wire.Parse([]byte(o.Request), wire.Limits{}), wire.Parse([]byte(o.Response), wire.Limits{})
	reading := contract.Read(&contract.Exchange{Request: &request, Response: response})
	if number, ok := response.Error().Path("code").Int64(); ok && slices.Contains(refusals, number) {
		return ""
	}
	if reading.Error == nil {
		return "answered with a success"
	}
	switch reading.Error.Class() {
	case candor.ClassBadRequest, candor.ClassPrecondition, candor.ClassUnsupported:
		return ""
	case candor.ClassUnavailable, candor.ClassTimeout, candor.ClassRateLimited:
		return "reported a failure of its upstream"
	default:
		return "failed with something other than a refusal"
	}
}

// refusals are the JSON-RPC error codes that refuse a call before the tool runs.
var refusals = []int64{-32700, -32600, -32601, -32602}

// named returns the tools that a case calls.
func named(c *probe.Case) []string {
	message := c.Raw
	if message == nil {
		message = []byte(`{"jsonrpc":"2.0","id":1,"method":` + string(jsontext.AppendString(nil, c.Method)) + `,"params":` + cmp.Or(string(c.Params), "null") + `}`)
	}
	var names []string
	for _, u := range unitsOf(message) {
		if name, ok := u.Params().Path("name").Str(); ok && u.MethodIs("tools/call") {
			names = append(names, name)
		}
	}
	return names
}
