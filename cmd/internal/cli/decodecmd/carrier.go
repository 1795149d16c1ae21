package decodecmd

import (
	"bytes"

	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/wire"
)

// CarrierKey is the member of a result's _meta, of a JSON-RPC error's data or of a document that keeps the parts of the original
// carrier for which the new carrier has no member.
const CarrierKey = "dev.candor/carrier"

// Members that Candor writes itself. All other members are kept byte for byte.
var (
	responseNames = []string{"jsonrpc", "id", "result", "error"}
	resultNames   = []string{"content", "isError", "_meta"}
	metaNames     = []string{dialect.MetaKey, dialect.ToolFailureKey, CarrierKey}
	blockNames    = []string{"type", "text"}
	errorNames    = []string{"code", "message", "data"}
	dataNames     = []string{"domain", "symbol", "details", "retryable", "retryAfterMs", "stack", dialect.MetaKey, CarrierKey}
)

// members are the members of an object, as JSON without the braces.
type members []byte

func (b members) add(name string, value []byte) members {
	return b.addRaw(wire.AppendString(nil, name), value)
}

func (b members) addRaw(name, value []byte) members {
	if len(b) > 0 {
		b = append(b, ',')
	}
	return append(append(append(b, name...), ':'), value...)
}

func (b members) object() []byte { return append(append([]byte{'{'}, b...), '}') }

func (b members) value() wire.Value {
	v, _ := Parse(b.object()) // built from valid JSON
	return v
}

// membersOf returns the members of an object except those with the given names.
func membersOf(v wire.Value, less ...string) members {
	var out members
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

// resultRest has the parts of a result besides the error.
type resultRest struct {
	wrapped  bool // it was in a response
	response members
	members  members
	meta     members
	block    members // of the block with the envelope
	blocks   [][]byte

	// Options of the original writer.
	mirror   bool // the envelope was repeated in structuredContent, although the dialect does not always do so
	readable bool // a text block for people followed the envelope
	failure  bool // the members of sep3313 were added
}

// rpcRest has the parts of a JSON-RPC error besides the error.
type rpcRest struct {
	response, members, data members
}

// carrier has the parts of all carriers that an error has been in.
type carrier struct {
	id     []byte // only if the carrier has no member for it
	result resultRest
	rpc    rpcRest
}

// record returns the parts for which the target's carrier has no member, or nil.
func (c *carrier) record(target dialect.Dialect) []byte {
	var out members
	kind := target.Carrier()
	if kind == dialect.CarrierDocument && len(c.id) > 0 {
		out = out.add("id", c.id)
	}
	rest := c.result
	rest.wrapped = rest.wrapped && (len(c.id) == 0 || len(rest.response) > 0) // an id implies a response
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

// hidden returns the options that cannot be seen in a result of the target dialect.
func (r *resultRest) hidden(target dialect.Dialect) resultRest {
	return resultRest{
		mirror:   r.mirror && (Mirrors(target) || target.Name() == "sep3313"),
		readable: r.readable && isText(target),
		failure:  r.failure && target.Name() == "sep3313",
	}
}

func (r *resultRest) record() members {
	var out members
	if r.wrapped {
		out = out.add("response", r.response.object())
	}
	for _, part := range []struct {
		name    string
		members members
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

func (r *rpcRest) record() members {
	var out members
	for _, part := range []struct {
		name    string
		members members
	}{{"response", r.response}, {"members", r.members}, {"data", r.data}} {
		if len(part.members) > 0 {
			out = out.add(part.name, part.members.object())
		}
	}
	return out
}

// readRecord reads the output of record. The input is not trusted: parts of another type and reserved names are ignored.
func readRecord(v wire.Value) carrier {
	var c carrier
	if id := v.Path("id"); id.Type() == wire.TypeString || id.Type() == wire.TypeNumber || id.IsNull() {
		c.id = id.Raw()
	}
	r := v.Path("result")
	c.result = resultRest{
		wrapped:  r.Path("response").Present(),
		response: membersOf(r.Path("response"), responseNames...),
		members:  membersOf(r.Path("members"), resultNames...),
		meta:     membersOf(r.Path("meta"), metaNames...),
		block:    membersOf(r.Path("block"), blockNames...),
	}
	for block := range r.Path("content").Elements() {
		c.result.blocks = append(c.result.blocks, block.Raw())
	}
	c.result.mirror, _ = r.Path("mirror").Bool()
	c.result.readable, _ = r.Path("readable").Bool()
	c.result.failure, _ = r.Path("toolFailure").Bool()
	e := v.Path("error")
	c.rpc = rpcRest{
		response: membersOf(e.Path("response"), responseNames...),
		members:  membersOf(e.Path("members"), errorNames...),
		data:     membersOf(e.Path("data"), dataNames...),
	}
	return c
}

// Mirrors reports whether servers of a dialect always repeat the envelope in structuredContent.
func Mirrors(d dialect.Dialect) bool {
	switch d.Name() {
	case "system-error", "dual", "dual-unified":
		return true
	default:
		return false
	}
}

// isText reports whether the first block of a dialect is text instead of JSON.
func isText(d dialect.Dialect) bool { return d.Name() == "candor" || d.Name() == "sep3313" }
