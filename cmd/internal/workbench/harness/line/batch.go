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
		return c.start(c.badBatch(m), c.write)
	}
	b := &batch{c: c, responses: make([][]byte, n)}
	b.open.Store(int64(n))
	started := 0
	for unit := range m.Value().Elements() {
		at, part := started, wire.Parse(unit.Raw(), c.limits())
		if !c.start(c.inspect(&part), func(r []byte) { b.responses[at] = r; b.finish(1) }) {
			b.finish(n - started) // send the responses so far
			return false
		}
		started++
	}
	return true
}

// finish counts n messages as done and writes all responses when the last one is.
func (b *batch) finish(n int) {
	if b.open.Add(int64(-n)) == 0 {
		b.c.write(b.join())
	}
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

// badBatch returns the request for a batch of which no message is served. It is silent if all messages are notifications.
func (c *conn) badBatch(m *wire.Message) request {
	n := m.Value().Len()
	if n == 0 {
		return rejected(candor.CodeInvalidRequest, "the batch is empty")
	}
	r := rejected(common.LimitExceeded, fmt.Sprintf("the batch has %d messages, more than the limit of %d; none was served", n, c.s.o.MaxBatch))
	r.silent = true
	for unit := range m.Value().Elements() {
		part := wire.Parse(unit.Raw(), c.limits())
		r.silent = r.silent && c.inspect(&part).silent
	}
	return r
}
