package chaos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/cmd/internal/fleet/storetest"
)

// callTimeout limits one call of a store. It is shorter than an election of nats-server, so that many results are unknown.
const callTimeout = 3 * time.Second

// competitor appends entries to a chain that others append to as well, and reads its head.
type competitor struct {
	store  fleet.Store
	chain  fleet.Chain
	client int
	life   uint64 // differs for each process of a client, so that no two entries are equal
	rng    *rand.Rand
	record *recorder
	clock  func() int64

	number int
	head   fleet.Head // as far as this client knows
}

// run makes operations with random pauses until stop is closed, or their number reaches limit.
func (c *competitor) run(ctx context.Context, stop <-chan struct{}, pause time.Duration, limit int) error {
	for c.number < limit {
		if err := c.operate(ctx); err != nil {
			return err
		}
		select {
		case <-stop:
			return c.read(ctx)
		case <-time.After(time.Duration(c.rng.Int64N(int64(pause)))):
		}
	}
	return nil
}

func (c *competitor) operate(ctx context.Context) error {
	if c.rng.IntN(4) == 0 {
		return c.read(ctx)
	}
	return c.append(ctx)
}

// begin records the call of an operation.
func (c *competitor) begin(kind string) (operation, error) {
	c.number++
	op := operation{Client: c.client, Number: c.number, Kind: kind, Call: c.clock()}
	if kind == kindAppend {
		op.After = c.head
		op.Next, _ = c.next()
	}
	return op, c.record.write(op)
}

func (c *competitor) read(ctx context.Context) error {
	op, err := c.begin(kindHead)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	head, err := c.store.Head(ctx, c.chain)
	op.Return, op.Result = c.clock(), resultUnknown
	if err == nil {
		op.Result, op.Head, c.head = resultOK, head, head
	}
	return c.record.write(op)
}

func (c *competitor) append(ctx context.Context) error {
	op, err := c.begin(kindAppend)
	if err != nil {
		return err
	}
	next, line := c.next()
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	err = c.store.Append(ctx, c.chain, c.head, [][]byte{line})
	op.Return = c.clock()
	var conflict *fleet.ConflictError
	switch {
	case err == nil:
		op.Result, c.head = resultOK, next
	case errors.As(err, &conflict):
		op.Result, op.Head, c.head = resultConflict, conflict.Head, conflict.Head
	default:
		op.Result = resultUnknown
	}
	if err := c.record.write(op); err != nil || op.Result != resultUnknown {
		return err
	}
	return c.read(ctx)
}

// next returns the entry that this client appends next, and the head of the chain after it.
func (c *competitor) next() (fleet.Head, []byte) {
	line := storetest.NextLine(c.chain, c.head, fmt.Appendf(nil, "%d-%d-%d", c.client, c.life, c.number))
	next := headOf(line)
	next.Seq = c.head.Seq + 1
	return next, line
}
