package line

import (
	"fmt"
	"sync/atomic"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/wire"
)

// batch collects the responses to the messages of one array. They leave together, in the order of the messages.
type batch struct {
	c         *conn
	open      atomic.Int64
	responses [][]byte
}

// startBatch starts every message of a batch as if it had come alone. Each needs a slot, so a batch cannot starve other requests.
func (c *conn) startBatch(m *wire.Message) bool {
	n := m.Value().Len()
	if n == 0 || n > c.s.o.MaxBatch {
		return c.start(func() { c.send(c.badBatch(n)) })
	}
	b := &batch{c: c, responses: make([][]byte, n)}
	b.open.Store(int64(n))
	started := 0
	for unit := range m.Value().Elements() {
		at := started
		if !c.start(func() { b.serve(at, unit.Raw()) }) {
			b.finish(n - started) // what was answered already must leave
			return false
		}
		started++
	}
	return true
}

// serve answers one message of the batch.
func (b *batch) serve(at int, unit []byte) {
	m := wire.Parse(unit, b.c.limits())
	b.responses[at] = b.c.answer(&m)
	b.finish(1)
}

// finish counts messages that are done. The last one sends all responses.
func (b *batch) finish(n int) {
	if b.open.Add(int64(-n)) == 0 {
		b.c.send(b.join())
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

func (c *conn) badBatch(n int) []byte {
	if n == 0 {
		return c.fail(request{}, contract.VerdictMalformed, candor.New(candor.CodeInvalidRequest, "", byServer, candor.WithDetails("the batch is empty")))
	}
	return c.fail(request{}, contract.VerdictMalformed, candor.New(candor.CodeCommonLimitExceeded, "", byServer,
		candor.WithDetails(fmt.Sprintf("the batch has %d requests, more than the limit of %d", n, c.s.o.MaxBatch))))
}
