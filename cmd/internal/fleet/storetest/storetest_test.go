package storetest_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/cmd/internal/fleet/storetest"
)

// TestSuiteAcceptsACorrectStore runs the suite against the simplest store, so that a failure of an engine is the engine's.
func TestSuiteAcceptsACorrectStore(t *testing.T) {
	storetest.Run(t, func(*testing.T) storetest.Opened {
		m := &memory{chains: map[fleet.Chain][]fleet.Stored{}, changed: make(chan struct{})}
		again := func(*testing.T) fleet.Store { return &connection{memory: m, closed: make(chan struct{})} }
		return storetest.Opened{
			Store: again(t), Again: again, Reopen: again, SkipMemory: true,
			Raw: func(_ *testing.T, chain fleet.Chain, line []byte) {
				m.mu.Lock()
				defer m.mu.Unlock()
				m.put(chain, line)
			},
		}
	})
}

// memory is a store without an engine.
type memory struct {
	mu      sync.Mutex
	chains  map[fleet.Chain][]fleet.Stored
	order   []fleet.Stored
	changed chan struct{} // closed by the next change
}

func (m *memory) put(chain fleet.Chain, line []byte) {
	stored := fleet.Stored{Chain: chain, Position: uint64(len(m.order)) + 1, Line: bytes.Clone(line)}
	m.order = append(m.order, stored)
	m.chains[chain] = append(m.chains[chain], stored)
	close(m.changed)
	m.changed = make(chan struct{})
}

func (m *memory) head(chain fleet.Chain) (fleet.Head, error) {
	lines := m.chains[chain]
	if len(lines) == 0 {
		return fleet.Head{}, nil
	}
	return fleet.HeadOf(chain, lines[len(lines)-1].Line)
}

type connection struct {
	*memory
	closed  chan struct{}
	closing sync.Once
}

var errClosed = errors.New("closed")

// enter returns an error if a call cannot be made, and otherwise locks the store.
func (c *connection) enter(ctx context.Context, chain fleet.Chain) error {
	select {
	case <-c.closed:
		return errClosed
	default:
	}
	if err := cmp.Or(ctx.Err(), chain.Check()); err != nil {
		return err
	}
	c.mu.Lock()
	return nil
}

func (c *connection) Append(ctx context.Context, chain fleet.Chain, after fleet.Head, lines [][]byte) error {
	if _, err := fleet.CheckLines(chain, after, lines); err != nil {
		return err
	}
	if err := c.enter(ctx, chain); err != nil {
		return err
	}
	defer c.mu.Unlock()
	if head, err := c.head(chain); err != nil || head != after {
		return cmp.Or(err, error(&fleet.ConflictError{Chain: chain, Head: head}))
	}
	for _, line := range lines {
		c.put(chain, line)
	}
	return nil
}

func (c *connection) Head(ctx context.Context, chain fleet.Chain) (fleet.Head, error) {
	if err := c.enter(ctx, chain); err != nil {
		return fleet.Head{}, err
	}
	defer c.mu.Unlock()
	return c.head(chain)
}

func (c *connection) Chains(ctx context.Context) ([]fleet.Chain, error) {
	if err := c.enter(ctx, fleet.Chain{Node: "any", Name: "any"}); err != nil {
		return nil, err
	}
	defer c.mu.Unlock()
	var list []fleet.Chain
	for chain := range c.chains {
		list = append(list, chain)
	}
	slices.SortFunc(list, func(a, b fleet.Chain) int { return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Name, b.Name)) })
	return list, nil
}

func (c *connection) Lines(ctx context.Context, chain fleet.Chain, after uint64) iter.Seq2[fleet.Stored, error] {
	return func(yield func(fleet.Stored, error) bool) {
		if err := c.enter(ctx, chain); err != nil {
			yield(fleet.Stored{}, err)
			return
		}
		lines := slices.Clone(c.chains[chain])
		c.mu.Unlock()
		for _, stored := range lines {
			if err := ctx.Err(); err != nil {
				yield(fleet.Stored{}, err)
				return
			}
			if stored.Position > after && !yield(stored, nil) {
				return
			}
		}
	}
}

func (c *connection) Follow(ctx context.Context) iter.Seq2[fleet.Stored, error] {
	c.mu.Lock()
	next := len(c.order)
	c.mu.Unlock()
	return func(yield func(fleet.Stored, error) bool) {
		for {
			c.mu.Lock()
			lines, changed := c.order[next:], c.changed
			c.mu.Unlock()
			for _, stored := range lines {
				if next++; !yield(stored, nil) {
					return
				}
			}
			select {
			case <-changed:
			case <-ctx.Done():
				return
			case <-c.closed:
				yield(fleet.Stored{}, errClosed)
				return
			}
		}
	}
}

func (c *connection) Remove(ctx context.Context, chain fleet.Chain, through uint64) error {
	if err := c.enter(ctx, chain); err != nil {
		return err
	}
	defer c.mu.Unlock()
	c.chains[chain] = slices.DeleteFunc(c.chains[chain], func(stored fleet.Stored) bool {
		head, err := fleet.HeadOf(chain, stored.Line)
		return err == nil && head.Seq <= through
	})
	return nil
}

func (c *connection) Durability(context.Context) (fleet.Durability, error) {
	return fleet.Durability{Gap: fleet.Wrong("it is memory", "use an engine")}, nil
}

func (c *connection) Setup(context.Context, fleet.SetupOptions) error { return nil }

func (c *connection) Grant(node string) (string, error) {
	if !fleet.ValidNode(node) {
		return "", fmt.Errorf("%q is not the name of a node", node)
	}
	return "anything", nil
}

func (c *connection) CheckRights(context.Context, string) ([]fleet.RightCheck, error) {
	return nil, nil
}

func (c *connection) Close() error {
	c.closing.Do(func() { close(c.closed) })
	return nil
}
