package decodecmd

import (
	"bytes"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/splice"
	"github.com/candor-mcp/candor/wire"
)

// takeRecord removes the record of earlier carriers from a value and returns it.
func takeRecord(v wire.Value) (wire.Value, carrier) {
	for _, path := range [][]string{{"_meta"}, {"result", "_meta"}, {"error", "data"}, {"data"}, {}} {
		record, ok := at(v, path).Get(CarrierKey)
		if !ok {
			continue
		}
		c := readRecord(record)
		v = less(v, append(path, CarrierKey))
		if len(path) == 0 && v.Path("code").Present() { // the copy of the error is only for other readers
			v = less(v, []string{dialect.MetaKey})
		}
		return v, c
	}
	return v, carrier{}
}

func at(v wire.Value, path []string) wire.Value {
	for _, name := range path {
		v = v.Path(name)
	}
	return v
}

func less(v wire.Value, path []string) wire.Value {
	text, err := splice.Remove(nil, v, path)
	if err != nil {
		return v
	}
	if out, err := Parse(text); err == nil {
		return out
	}
	return v
}

// look adds the parts of the value besides the error e, which was read from it in a dialect, or in none.
func (c *carrier) look(v wire.Value, from dialect.Dialect, e *candor.Error) {
	if v.Path("ok").Present() { // a bare envelope with an error member
		return
	}
	switch result, failed := v.Path("result"), v.Path("error"); {
	case result.Present():
		c.result.wrapped, c.result.response = true, membersOf(v, responseNames...)
		c.result.look(result, from, e)
	case failed.Present():
		c.rpc.response = membersOf(v, responseNames...)
		c.rpc.look(failed)
	case v.Path("content").Type() == wire.TypeArray, v.Path("structuredContent").Type() == wire.TypeObject:
		c.result.look(v, from, e)
	case v.Path("code").IsInteger():
		c.rpc.look(v)
	}
}

// look keeps data only with a canonical error: otherwise all its members have become details.
func (r *rpcRest) look(failed wire.Value) {
	r.members = membersOf(failed, errorNames...)
	if data := failed.Path("data"); data.Path(dialect.MetaKey).Present() {
		r.data = membersOf(data, dataNames...)
	}
}

func (r *resultRest) look(result wire.Value, from dialect.Dialect, e *candor.Error) {
	r.members = membersOf(result, resultNames...)
	r.meta = membersOf(result.Path("_meta"), metaNames...)
	if mirror := result.Path("structuredContent"); from != nil && Reads(from, mirror) {
		r.members = membersOf(r.members.value(), "structuredContent")
		r.mirror = r.mirror || !Mirrors(from)
	}
	if from != nil && from.Name() != "sep3313" && result.Path("_meta", dialect.ToolFailureKey).Present() {
		r.failure = true
	}
	r.lookBlocks(result, from, e)
}

// lookBlocks keeps the blocks that are neither the envelope nor its text for people.
func (r *resultRest) lookBlocks(result wire.Value, from dialect.Dialect, e *candor.Error) {
	words := dialect.AppendText(nil, e)
	_, whole := dialect.Embedded(result)
	own := false
	for block := range result.Path("content").Elements() {
		text, _ := block.Path("text").StrBytes()
		switch spoken := bytes.Equal(text, words); {
		case !own && isEnvelope(text, from, whole, spoken):
			own, r.block = true, membersOf(block, blockNames...)
		case spoken && from != nil && !isText(from) && block.Len() == len(blockNames):
			r.readable = true
		default:
			r.blocks = append(r.blocks, block.Raw())
		}
	}
}

// isEnvelope reports whether a block is the one from which the error was read.
func isEnvelope(text []byte, from dialect.Dialect, whole, spoken bool) bool {
	switch {
	case len(text) == 0:
		return false
	case from != nil && !isText(from):
		v, err := Parse(text)
		return err == nil && Reads(from, v)
	case whole:
		return spoken
	default:
		return true
	}
}

// Reads reports whether a value is an envelope of a dialect.
func Reads(d dialect.Dialect, v wire.Value) bool {
	if v.Type() != wire.TypeObject {
		return false
	}
	_, err := d.Read(v)
	return err == nil
}
