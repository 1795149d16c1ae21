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

	"golang.org/x/sync/errgroup"

	"github.com/candor-mcp/candor/cmd/internal/fleet"
)

// Source is a place to copy lines from. Every [fleet.Store] is one; see also [OpenLedger].
type Source interface {
	Chains(ctx context.Context) ([]fleet.Chain, error)
	Head(ctx context.Context, chain fleet.Chain) (fleet.Head, error)
	Lines(ctx context.Context, chain fleet.Chain, after uint64) iter.Seq2[fleet.Stored, error]
}

// Options configures a copy. The zero value copies everything.
type Options struct {
	// Node limits the copy to the chains of this node. Empty means all.
	Node string
	// As is the name of the node in the destination. Empty means the same name. It needs Node, or a source with one node.
	As string
	// Progress, if not nil, is called from time to time, by one goroutine at a time.
	Progress func(Progress)
	// Problem, if not nil, is called with what [Mirror] found or could not do after the first copy, by one goroutine at a time.
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

// mirrorEvery is how often Mirror looks for new entries.
const mirrorEvery = time.Second

// Mirror copies all entries, and every second those that were added, until the context ends, which is not an error. It calls caughtUp with the
// first result. Later problems and errors are passed to [Options.Problem]. A chain that differs is not copied any further.
func Mirror(ctx context.Context, source Source, to fleet.Store, o Options, caughtUp func(Result)) error {
	c := newCopier(source, to, o)
	for first := true; ; {
		switch err := c.all(ctx); {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // it was asked to end
		case err == nil && first:
			first, c.running = false, true
			caughtUp(c.outcome())
		case err != nil && first && !fleet.IsTemporary(err):
			return err
		case err != nil && o.Problem != nil:
			o.Problem(fmt.Errorf("%w; trying again", err))
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(mirrorEvery):
		}
	}
}

// copier is one call of Copy or Mirror.
type copier struct {
	source Source
	to     fleet.Store
	Options
	running bool // the first result was returned

	mu       sync.Mutex
	progress Progress                   // guarded by mu, as are the fields below
	problems []*Problem                 // found so far
	same     map[fleet.Chain]fleet.Head // last entries that were compared
}

func newCopier(source Source, to fleet.Store, o Options) *copier {
	return &copier{source: source, to: to, Options: o, problems: []*Problem{}, same: map[fleet.Chain]fleet.Head{}}
}

func (c *copier) outcome() Result {
	c.mu.Lock()
	defer c.mu.Unlock()
	slices.SortFunc(c.problems, func(a, b *Problem) int { return a.Chain.Compare(b.Chain) })
	return Result{Progress: c.progress, Problems: slices.Clone(c.problems)}
}

// compared returns the last entry that both sides of a chain were found to have.
func (c *copier) compared(chain fleet.Chain) fleet.Head {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.same[chain]
}

// all copies every chain, several at a time.
func (c *copier) all(ctx context.Context) error {
	chains, err := c.chains(ctx)
	if err != nil {
		return err
	}
	c.report(func(p *Progress) { p.Chains, p.Done, p.Entries = len(chains), 0, 0 })
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(workers)
	for _, chain := range chains {
		group.Go(func() error { return c.chain(ctx, chain) })
	}
	return group.Wait()
}

// chains returns the chains to copy: those that are wanted, without those that have a problem.
func (c *copier) chains(ctx context.Context) ([]fleet.Chain, error) {
	var chains []fleet.Chain
	err := retry(ctx, func() (bool, error) {
		var err error
		chains, err = c.source.Chains(ctx)
		return false, err
	})
	if err != nil {
		return nil, fmt.Errorf("listing the chains of the source: %w", err)
	}
	return slices.DeleteFunc(chains, func(chain fleet.Chain) bool {
		bad := slices.ContainsFunc(c.problems, func(p *Problem) bool { return p.Chain == chain })
		return bad || c.Node != "" && chain.Node != c.Node
	}), nil
}

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

// chain copies one chain. A problem with the chain itself is noted and is not an error.
func (c *copier) chain(ctx context.Context, chain fleet.Chain) error {
	err := retry(ctx, func() (bool, error) { return c.pass(ctx, chain) })
	if found, ok := errors.AsType[*Problem](err); ok {
		err = nil
		c.report(func(*Progress) {
			if c.problems = append(c.problems, found); c.running && c.Problem != nil {
				c.Problem(found)
			}
		})
	}
	if err != nil {
		return fmt.Errorf("copying chain %s: %w", chain, err)
	}
	c.report(func(p *Progress) { p.Done++ })
	return nil
}

// Attempts without progress for errors that may pass, and the first pause between them, which doubles.
const (
	attempts   = 6
	firstPause = 100 * time.Millisecond
)

// retry calls do again after an error that may pass, such as when another process appends to the same chain.
func retry(ctx context.Context, do func() (progress bool, err error)) error {
	pause := firstPause
	for n := 1; ; n++ {
		progress, err := do()
		_, conflict := errors.AsType[*fleet.ConflictError](err)
		if err == nil || !conflict && !fleet.IsTemporary(err) || n == attempts {
			return err
		}
		if progress {
			n, pause = 0, firstPause
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
		pause *= 2
	}
}
