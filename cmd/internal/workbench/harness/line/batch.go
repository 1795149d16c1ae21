package line

import (
	"fmt"
	"sync/atomic"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/common"
	"github.com/candor-mcp/candor/wire"
)

// batch collects the responses to the messages of one array. They are sent together, in the order of the messages.
type batch struct {
	c         *conn
	open      atomic.Int64
	responses [][]byte
}

// startBatch starts every message of a batch like a single message. Each needs a slot, so a batch cannot starve other
// requests.
func (c *conn) startBatch(m *wire.Message) bool {
	n := m.Value().Len()
	if n == 0 || n > c.s.o.MaxBatch {
		return c.start(func() []byte { return c.answer(c.badBatch(n)) })
	}
	b := &batch{c: c, responses: make([][]byte, n)}
	b.open.Store(int64(n))
	started := 0
	for unit := range m.Value().Elements() {
		at := started
		if !c.start(func() []byte { return b.serve(at, unit.Raw()) }) {
			c.add(b.finish(n - started)) // send the responses so far
			return false
		}
		started++
	}
	return true
}

// serve answers one message of the batch. It returns all responses for the last message, nil for the others.
func (b *batch) serve(at int, unit []byte) []byte {
	m := wire.Parse(unit, b.c.limits())
	b.responses[at] = b.c.answer(b.c.inspect(&m))
	return b.finish(1)
}

// finish counts n messages as done and returns all responses when the last one is.
func (b *batch) finish(n int) []byte {
	if b.open.Add(int64(-n)) > 0 {
		return nil
	}
	return b.join()
}

// join returns the array of the responses, nil if there are none.
func (b *batch) join() []byte {
	var all []byte
	for _, response := range b.responses {
		if response != nil {
			all = append(append(all, ','), response...)
		}
	}
	if all == nil {
		return nil
	}
	all[0] = '['
	return append(all, ']')
}

func (c *conn) badBatch(n int) request {
	if n == 0 {
		return rejected(candor.CodeInvalidRequest, "the batch is empty")
	}
	return rejected(common.LimitExceeded, fmt.Sprintf("the batch has %d requests, more than the limit of %d", n, c.s.o.MaxBatch))
}
