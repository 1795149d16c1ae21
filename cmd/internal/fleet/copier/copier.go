// Package copier copies the chains of a fleet from one store to another, or from a ledger folder to a store. It checks the hash and the
// link of every line that it reads, continues where an earlier copy has stopped, and never writes to a chain that differs from its source.
package copier

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
)

// Source is what lines are copied from. Every [fleet.Store] is one; see also [OpenLedger].
type Source interface {
	Chains(ctx context.Context) ([]fleet.Chain, error)
	Lines(ctx context.Context, chain fleet.Chain, after uint64) iter.Seq2[fleet.Stored, error]
	Follow(ctx context.Context) iter.Seq2[fleet.Stored, error]
}

// Options configures a copy. The zero value copies everything.
type Options struct {
	// Node limits the copy to the chains of this node. Empty means all.
	Node string
	// As is the name of the node in the destination. Empty means the same name. It needs Node, or a source with one node.
	As string
	// Progress, if not nil, is called from time to time, by one goroutine at a time.
	Progress func(Progress)
	// Problem, if not nil, is called with what [Mirror] found or could not do, by one goroutine at a time.
	Problem func(error)
}

// Progress is the state of a copy.
type Progress struct {
	Chains  int    `json:"chains"`  // chains of the source
	Done    int    `json:"done"`    // of which were dealt with
	Entries uint64 `json:"entries"` // read or known to be equal
	Copied  uint64 `json:"copied"`  // entries that the destination did not have
	Bytes   int64  `json:"bytes"`   // of them
}

// Kind is a kind of [Problem].
type Kind string

// The kinds of problems.
const (
	KindFork    Kind = "fork"     // the destination has another entry with the same number
	KindBehind  Kind = "behind"   // the destination has entries that the source does not have
	KindGap     Kind = "gap"      // the source no longer has entries that the destination needs
	KindBadLine Kind = "bad-line" // the source has a line that is not the next entry of its chain
)

// Problem is a chain that cannot be copied further. Other chains are copied.
type Problem struct {
	Chain fleet.Chain `json:"-"`
	Node  string      `json:"node"`
	Name  string      `json:"chain"`
	Seq   uint64      `json:"seq"` // the entry
	Kind  Kind        `json:"kind"`
	Text  string      `json:"text"`
}

// Error returns a sentence with the chain and the entry.
func (p *Problem) Error() string {
	return fmt.Sprintf("chain %s, entry %d: %s: %s", p.Chain, p.Seq, p.Kind, p.Text)
}

func problem(chain fleet.Chain, seq uint64, kind Kind, format string, args ...any) *Problem {
	return &Problem{Chain: chain, Node: chain.Node, Name: chain.Name, Seq: seq, Kind: kind, Text: fmt.Sprintf(format, args...)}
}

// Result is the outcome of a copy.
type Result struct {
	Progress
	Problems []*Problem `json:"problems"`
}

// workers is the number of chains that are copied at the same time.
const workers = 4

// Copy copies all entries that the source has, and compares the last entry of each chain afterwards. It returns an error if the copy could
// not be completed; then it can be called again and continues. Chains that differ are in the result.
func Copy(ctx context.Context, source Source, to fleet.Store, o Options) (Result, error) {
	c := newCopier(source, to, o)
	err := c.all(ctx)
	return c.outcome(), err
}

// copier is one call of Copy or Mirror.
type copier struct {
	source Source
	to     fleet.Store
	Options

	mu       sync.Mutex
	progress Progress
	problems []*Problem
}

func newCopier(source Source, to fleet.Store, o Options) *copier {
	return &copier{source: source, to: to, Options: o}
}

func (c *copier) outcome() Result {
	c.mu.Lock()
	defer c.mu.Unlock()
	slices.SortFunc(c.problems, func(a, b *Problem) int { return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Name, b.Name)) })
	list := c.problems
	if list == nil {
		list = []*Problem{}
	}
	return Result{Progress: c.progress, Problems: list}
}

// all copies every chain, several at a time.
func (c *copier) all(ctx context.Context) error {
	chains, err := c.chains(ctx)
	if err != nil {
		return err
	}
	c.report(func(p *Progress) { p.Chains = len(chains) })
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan fleet.Chain)
	var group sync.WaitGroup
	for range min(workers, len(chains)) {
		group.Go(func() {
			for chain := range next {
				if _, err := c.chain(ctx, chain); err != nil {
					cancel(err)
				}
			}
		})
	}
	for _, chain := range chains {
		select {
		case next <- chain:
		case <-ctx.Done():
		}
	}
	close(next)
	group.Wait()
	return context.Cause(ctx)
}

// chains returns the chains to copy.
func (c *copier) chains(ctx context.Context) ([]fleet.Chain, error) {
	var chains []fleet.Chain
	err := retry(ctx, func() (err error) {
		chains, err = c.source.Chains(ctx)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("listing the chains of the source: %w", err)
	}
	return slices.DeleteFunc(chains, func(chain fleet.Chain) bool { return !c.wanted(chain) }), nil
}

func (c *copier) wanted(chain fleet.Chain) bool { return c.Node == "" || chain.Node == c.Node }

// target returns the name of a chain in the destination.
func (c *copier) target(chain fleet.Chain) fleet.Chain {
	return fleet.Chain{Node: cmp.Or(c.As, chain.Node), Name: chain.Name}
}

// report changes the progress and passes it on.
func (c *copier) report(change func(*Progress)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change(&c.progress)
	if c.Progress != nil {
		c.Progress(c.progress)
	}
}

// chain copies one chain. A problem with the chain itself is noted and is no error. It returns the head of the destination.
func (c *copier) chain(ctx context.Context, chain fleet.Chain) (fleet.Head, error) {
	head, err := c.copyChain(ctx, chain)
	var found *Problem
	if errors.As(err, &found) {
		c.mu.Lock()
		c.problems = append(c.problems, found)
		c.mu.Unlock()
		err = nil
	}
	if err == nil {
		c.report(func(p *Progress) { p.Done++ })
	}
	return head, err
}

// copyChain copies one chain, again if another process appends to it in the destination at the same time.
func (c *copier) copyChain(ctx context.Context, chain fleet.Chain) (fleet.Head, error) {
	var head fleet.Head
	for {
		before := head
		err := retry(ctx, func() (err error) {
			head, err = c.pass(ctx, chain)
			return err
		})
		var conflict *fleet.ConflictError
		if !errors.As(err, &conflict) {
			return head, err
		}
		if conflict.Head == before && before != (fleet.Head{}) {
			return head, fmt.Errorf("copying chain %s: %w", chain, err) // no progress since the last attempt
		}
		head = conflict.Head
	}
}

// Attempts for errors that may pass, and the first pause between them, which doubles.
const (
	attempts   = 6
	firstPause = 100 * time.Millisecond
)

// retry calls do again after an error that says that it may succeed later.
func retry(ctx context.Context, do func() error) error {
	pause := firstPause
	for n := 1; ; n++ {
		err := do()
		if err == nil || !temporary(err) || n == attempts {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
		pause *= 2
	}
}

func temporary(err error) bool {
	var coded *candor.Error
	if !errors.As(err, &coded) {
		return false
	}
	return coded.Class() == candor.ClassUnavailable || coded.Class() == candor.ClassTimeout
}
