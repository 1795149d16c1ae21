package decodecmd

import (
	"bytes"

	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/wire"
)

// CarrierKey is where an error that moved into another kind of carrier keeps what the first one held besides it: a member of a
// result's _meta, of a JSON-RPC error's data, or of a document.
const CarrierKey = "dev.candor/carrier"

// What a carrier of Candor itself holds. All else is somebody's, and is kept as the bytes it is.
var (
	responseNames = []string{"jsonrpc", "id", "result", "error"}
	resultNames   = []string{"content", "isError", "_meta"}
	metaNames     = []string{dialect.MetaKey, dialect.ToolFailureKey, CarrierKey}
	blockNames    = []string{"type", "text"}
	errorNames    = []string{"code", "message", "data"}
	dataNames     = []string{"domain", "symbol", "details", "retryable", "retryAfterMs", "stack", dialect.MetaKey, CarrierKey}
)

// bag is members of an object, without its braces.
type bag []byte

func (b bag) add(name string, value []byte) bag {
	return b.addRaw(wire.AppendString(nil, name), value)
}

func (b bag) addRaw(name, value []byte) bag {
	if len(b) > 0 {
		b = append(b, ',')
	}
	return append(append(append(b, name...), ':'), value...)
}

func (b bag) object() []byte { return append(append([]byte{'{'}, b...), '}') }

func (b bag) value() wire.Value {
	v, _ := Parse(b.object()) // it was taken from JSON
	return v
}

// bagOf takes the members of an object that have none of these names.
func bagOf(v wire.Value, less ...string) bag {
	var out bag
next:
	for name, value := range v.Members() {
		for _, known := range less {
			if name.Is(known) {
				continue next
			}
		}
		out = out.addRaw(name.Raw(), value.Raw())
	}
	return out
}

// resultRest is what a result held besides the error.
type resultRest struct {
	wrapped  bool // it stood in a response
	response bag
	members  bag
	meta     bag
	block    bag // of the block with the envelope
	blocks   [][]byte

	// What the writer was asked for.
	mirror   bool // the envelope stood in structuredContent too, and not because its dialect always does that
	readable bool // a block for people followed the envelope
	failure  bool // the members of sep3313 were added
}

// rpcRest is what a JSON-RPC error held besides the error.
type rpcRest struct {
	response, members, data bag
}

// carrier is what is known of all the carriers that an error has been in.
type carrier struct {
	id     []byte // only where the carrier itself has no place for it
	result resultRest
	rpc    rpcRest
}

// record writes what a carrier of this kind has no place for; nil if that is nothing.
func (c *carrier) record(target dialect.Dialect) []byte {
	var out bag
	kind := target.Carrier()
	if kind == dialect.CarrierDocument && len(c.id) > 0 {
		out = out.add("id", c.id)
	}
	rest := c.result
	rest.wrapped = rest.wrapped && (len(c.id) == 0 || len(rest.response) > 0) // an id asks for a response by itself
	if kind == dialect.CarrierResult {
		rest = rest.hidden(target)
	}
	if r := rest.record(); len(r) > 0 {
		out = out.add("result", r.object())
	}
	if r := c.rpc.record(); len(r) > 0 && kind != dialect.CarrierRPCError {
		out = out.add("error", r.object())
	}
	if len(out) == 0 {
		return nil
	}
	return out.object()
}

// hidden is what does not show in a result of this dialect.
func (r *resultRest) hidden(target dialect.Dialect) resultRest {
	return resultRest{
		mirror:   r.mirror && (Mirrors(target) || target.Name() == "sep3313"),
		readable: r.readable && isText(target),
		failure:  r.failure && target.Name() == "sep3313",
	}
}

func (r *resultRest) record() bag {
	var out bag
	if r.wrapped {
		out = out.add("response", r.response.object())
	}
	for _, part := range []struct {
		name    string
		members bag
	}{{"members", r.members}, {"meta", r.meta}, {"block", r.block}} {
		if len(part.members) > 0 {
			out = out.add(part.name, part.members.object())
		}
	}
	if len(r.blocks) > 0 {
		out = out.add("content", append(append([]byte{'['}, bytes.Join(r.blocks, []byte{','})...), ']'))
	}
	for _, flag := range []struct {
		name string
		set  bool
	}{{"mirror", r.mirror}, {"readable", r.readable}, {"toolFailure", r.failure}} {
		if flag.set {
			out = out.add(flag.name, []byte("true"))
		}
	}
	return out
}

func (r *rpcRest) record() bag {
	var out bag
	for _, part := range []struct {
		name    string
		members bag
	}{{"response", r.response}, {"members", r.members}, {"data", r.data}} {
		if len(part.members) > 0 {
			out = out.add(part.name, part.members.object())
		}
	}
	return out
}

// readRecord reads what record wrote. It comes from a file, so that a part of another type is passed over and no name of the
// carrier's own is taken from it.
func readRecord(v wire.Value) carrier {
	var c carrier
	if id := v.Path("id"); id.Type() == wire.TypeString || id.Type() == wire.TypeNumber || id.IsNull() {
		c.id = id.Raw()
	}
	r := v.Path("result")
	c.result = resultRest{
		wrapped:  r.Path("response").Present(),
		response: bagOf(r.Path("response"), responseNames...),
		members:  bagOf(r.Path("members"), resultNames...),
		meta:     bagOf(r.Path("meta"), metaNames...),
		block:    bagOf(r.Path("block"), blockNames...),
	}
	for block := range r.Path("content").Elements() {
		c.result.blocks = append(c.result.blocks, block.Raw())
	}
	c.result.mirror, _ = r.Path("mirror").Bool()
	c.result.readable, _ = r.Path("readable").Bool()
	c.result.failure, _ = r.Path("toolFailure").Bool()
	e := v.Path("error")
	c.rpc = rpcRest{
		response: bagOf(e.Path("response"), responseNames...),
		members:  bagOf(e.Path("members"), errorNames...),
		data:     bagOf(e.Path("data"), dataNames...),
	}
	return c
}

// Mirrors reports the dialects whose servers repeat the envelope in structuredContent always: their tools declare no schema.
func Mirrors(d dialect.Dialect) bool {
	switch d.Name() {
	case "system-error", "dual", "dual-unified":
		return true
	default:
		return false
	}
}

// isText reports the dialects whose first block is words and not JSON.
func isText(d dialect.Dialect) bool { return d.Name() == "candor" || d.Name() == "sep3313" }
