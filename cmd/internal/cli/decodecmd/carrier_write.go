package decodecmd

import (
	"slices"
	"strconv"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/splice"
)

// options adds the options that follow from the earlier carriers.
func (c *carrier) options(o dialect.Options, target dialect.Dialect) dialect.Options {
	members := c.result.members.value()
	o.Complete = members.Path("resultType").Is("complete")
	o.NoOutputSchema = (Mirrors(target) || c.result.mirror) && !members.Path("structuredContent").Present()
	o.Mirror = c.result.mirror
	o.Readable = c.result.readable
	o.Sep3313 = c.result.failure
	o.ID, o.Response = c.id, len(c.id) > 0 || c.result.wrapped
	return o
}

// write encodes an error in the target dialect with the kept parts. Parts without a member there go into a record.
func (c *carrier) write(target dialect.Dialect, e *candor.Error, o dialect.Options) ([]byte, error) {
	o = c.options(o, target)
	g := &graft{doc: target.Write(nil, e, o)}
	record := members(nil)
	if text := c.record(target); text != nil {
		record = record.add(CarrierKey, text)
	}
	switch target.Carrier() {
	case dialect.CarrierResult:
		c.result.graft(g, o, record)
	case dialect.CarrierRPCError:
		g.members(c.rpc.response)
		g.members(c.rpc.members, "error")
		g.members(join(c.rpc.data, record), "error", "data")
	case dialect.CarrierDocument:
		if len(record) > 0 { // its readers reject an unknown member unless the canonical error is there too
			canonical, err := dialect.Lookup("candor")
			if err != nil {
				return nil, err
			}
			g.members(join(members(nil).add(dialect.MetaKey, canonical.Encode(nil, e, o)), record))
		}
	}
	return g.doc, g.err
}

func (r *resultRest) graft(g *graft, o dialect.Options, record members) {
	var base []string
	if o.Response {
		base = []string{"result"}
		g.members(r.response)
	}
	members := r.members
	if o.Complete { // already written
		members = membersOf(members.value(), "resultType")
	}
	g.members(members, base...)
	g.members(join(r.meta, record), append(base, "_meta")...)
	content := append(base, "content")
	g.members(r.block, append(content, strconv.Itoa(0))...)
	g.blocks(r.blocks, content)
}

func join(a, b members) members {
	if len(a) == 0 || len(b) == 0 {
		return append(slices.Clip(a), b...)
	}
	return append(append(slices.Clip(a), ','), b...)
}

// graft adds parts to a document and keeps the first error.
type graft struct {
	doc []byte
	err error
}

// members adds members to the object at a path, all at once: one by one would take quadratic time.
func (g *graft) members(add members, path ...string) { g.add(add, path, '}') }

func (g *graft) blocks(add [][]byte, path []string) {
	var all []byte
	for i, block := range add {
		if i > 0 {
			all = append(all, ',')
		}
		all = append(all, block...)
	}
	g.add(all, path, ']')
}

// add inserts text before the closing bracket of the value at a path.
func (g *graft) add(text []byte, path []string, bracket byte) {
	if len(text) == 0 || g.err != nil {
		return
	}
	doc, err := Parse(g.doc)
	if err != nil {
		g.err = err
		return
	}
	old := doc
	for _, step := range path {
		if i, err := strconv.Atoi(step); err == nil {
			old = old.Path(i)
		} else {
			old = old.Path(step)
		}
	}
	grown := slices.Clone(old.Raw()[:max(0, len(old.Raw())-1)])
	if old.Len() > 0 {
		grown = append(grown, ',')
	}
	value, err := Parse(append(append(grown, text...), bracket))
	if err == nil {
		grown, err = splice.Set(nil, doc, path, value)
	}
	if err == nil {
		_, err = Parse(grown)
	}
	if err != nil {
		g.err = err
		return
	}
	g.doc = grown
}
