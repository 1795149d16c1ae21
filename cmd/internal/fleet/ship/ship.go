// Package ship copies the lines of a ledger folder to a store while they are written.
//
// A [Shipper] ships the chain of its own process entry by entry, and, if it holds the lock for that, the chains of
// other processes on the same folder, running or not. Only lines that are durable are shipped. Any number of processes
// may ship the same folder: a store appends a line only after the one before it.
package ship

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/ledger"
)

// Config configures a [Shipper].
type Config struct {
	Dir  string         // folder of the ledger; it is created if it does not exist
	At   fleet.Location // node and mode; its store is opened with Open
	Open func(ctx context.Context) (fleet.Store, error)
	Log  *slog.Logger
	// Backlog is the size of waiting lines above which entries are refused; 0 means 1 GiB.
	Backlog int64

	poll    time.Duration // between two looks at the folder; 0 means a second
	backoff time.Duration // first pause after an error; 0 means 50 ms
	confirm time.Duration // maximum wait for the store in the modes both and quorum; 0 means 10 s
	recheck time.Duration // between two checks of what the store promises, in these modes; 0 means a minute
}

const (
	defaultBacklog = 1 << 30
	defaultPoll    = time.Second
	defaultBackoff = 50 * time.Millisecond
	defaultConfirm = 10 * time.Second
	defaultRecheck = time.Minute
	operation      = 30 * time.Second // maximum time for one request to the store
	maxPause       = 10 * time.Second // between two attempts while the store is away
	drain          = 5 * time.Second  // to ship the rest when a process ends
	drainAway      = time.Second      // the same if the store is away
)

// probe is the name of a chain that no process writes.
const probe = "candor-20000101T000000000Z-00000000"

// Shipper ships a ledger folder. Its methods are safe for concurrent use.
type Shipper struct {
	config  Config
	root    *os.Root
	reader  *ledger.Reader
	ctx     context.Context //nolint:containedctx // ends the goroutines
	stop    context.CancelFunc
	workers sync.WaitGroup
	looked  chan struct{} // closed after the first look at the folder
	slots   chan struct{} // limits the chains that are shipped at the same time, other than those being written

	opening sync.Mutex // held while the store is opened
	store   fleet.Store

	mu      sync.Mutex
	chains  map[string]*chain // guarded by mu, as are the fields of each chain
	own     []*chain          // those that this process writes, or has written
	others  int64             // bytes of other chains that wait
	record  func(ctx context.Context, e ledger.Entry) (ledger.Receipt, error)
	shipped uint64 // lines that this process has appended to the store
	lost    uint64 // acknowledged lines that the store did not have any more
	lastErr string // why the store cannot be used now; "" if it can
	since   time.Time
	weak    error // the store does not promise any more what the mode needs
	full    bool  // the backlog is exceeded
	closing bool
	lock    *os.File // held while this process ships the chains of others
}

// Start prepares a folder for shipping, checks the store as the mode demands, and starts to ship. In mode local a store
// that is away is only logged. The error is for people and has a hint.
func Start(ctx context.Context, c Config) (*Shipper, error) {
	c = c.withDefaults()
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the folder of the ledger: %w", err)
	}
	root, err := os.OpenRoot(c.Dir)
	if err != nil {
		return nil, fmt.Errorf("opening the folder of the ledger: %w", err)
	}
	s := &Shipper{config: c, root: root, chains: map[string]*chain{}, looked: make(chan struct{}), slots: make(chan struct{}, 4)}
	s.ctx, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	if s.reader, err = ledger.OpenReader(c.Dir); err == nil {
		if err = s.check(ctx); err == nil {
			err = s.mark()
		}
	}
	if err != nil {
		return nil, errors.Join(err, s.release())
	}
	s.workers.Go(s.watch)
	if c.At.Mode != fleet.ModeLocal {
		s.workers.Go(s.recheck)
	}
	return s, nil
}

func (c Config) withDefaults() Config {
	c.Backlog = cmp.Or(c.Backlog, defaultBacklog)
	c.poll = cmp.Or(c.poll, defaultPoll)
	c.backoff = cmp.Or(c.backoff, defaultBackoff)
	c.confirm = cmp.Or(c.confirm, defaultConfirm)
	c.recheck = cmp.Or(c.recheck, defaultRecheck)
	return c
}

// check opens the store and demands of it what the mode needs.
func (s *Shipper) check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.config.confirm)
	defer cancel()
	store, err := s.open(ctx)
	if err == nil && s.config.At.Mode == fleet.ModeLocal {
		return nil
	}
	if err == nil {
		// An engine may open a store without a request to it.
		if _, err = store.Head(ctx, fleet.Chain{Node: s.config.At.Node, Name: probe}); err == nil {
			_, err = s.demand(ctx, store)
			return err
		}
	}
	if s.config.At.Mode == fleet.ModeLocal && isTemporary(err) {
		s.failed(err)
		return nil
	}
	return fmt.Errorf("the store %s cannot be used: %s", s.config.At, fleet.Reason(err))
}

// isTemporary reports whether an error of the store may pass without a change of the URL.
func isTemporary(err error) bool {
	switch candor.CodeOf(err).Class() {
	case "", candor.ClassBadRequest, candor.ClassUnsupported:
		return errors.Is(err, context.DeadlineExceeded)
	default:
		return true
	}
}

// cause returns the cause of a candor error, because its text is for a peer, or err.
func cause(err error) error {
	var coded *candor.Error
	if errors.As(err, &coded) && coded.Unwrap() != nil {
		return coded.Unwrap()
	}
	return err
}

// open returns the store, which it opens if that has not succeeded yet.
func (s *Shipper) open(ctx context.Context) (fleet.Store, error) {
	s.opening.Lock()
	defer s.opening.Unlock()
	if s.store != nil {
		return s.store, nil
	}
	store, err := s.config.Open(ctx)
	if err != nil {
		return nil, err
	}
	s.store = store
	return store, nil
}

// Options adds to the options of a ledger in the folder what the mode needs. The ledger is opened with them, and closed before the Shipper.
func (s *Shipper) Options(o ledger.Options) ledger.Options {
	o.Shipping.OnDurable, o.Shipping.Admit = s.durable, s.admit
	if s.config.At.Mode != fleet.ModeLocal {
		o.Shipping.Confirm = s.confirm
	}
	return o
}

// RecordIn sets the ledger that records problems with copies of chains in the store.
func (s *Shipper) RecordIn(to *ledger.Ledger) {
	s.mu.Lock()
	s.record = to.Append
	s.mu.Unlock()
	s.workers.Go(s.recordProblems)
}

// durable is called by the ledger after each write.
func (s *Shipper) durable(name string, seq uint64, written int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.chains[name]
	if c == nil {
		c = newChain(name)
		s.chains[name] = c
	}
	if !c.own {
		c.own, c.written, c.ackedBytes = true, 0, 0
		s.own = append(s.own, c)
		s.launch(c)
	}
	c.written += written
	c.extend(seq, false)
	c.wakeUp()
}

// launch starts to ship a chain. The caller holds mu.
func (s *Shipper) launch(c *chain) {
	if c.running || s.closing || s.ctx.Err() != nil {
		return
	}
	c.running = true
	s.workers.Go(func() { s.run(c) })
}

// admit refuses entries while too many lines wait for the store, or while it promises less than the mode needs.
func (s *Shipper) admit() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.weak != nil {
		return s.weak
	}
	waiting := s.others
	for _, c := range s.own {
		waiting += c.waiting()
	}
	full := waiting > s.config.Backlog
	if full != s.full {
		s.full = full
		if full {
			s.config.Log.Error("too many ledger entries wait for the store, new ones are refused", slog.Int64("bytes", waiting), slog.Int64("backlog", s.config.Backlog))
		} else {
			s.config.Log.Info("ledger entries are accepted again")
		}
	}
	if !full {
		return nil
	}
	reason := cmp.Or(s.lastErr, "entries come faster than they are shipped")
	return fmt.Errorf("%d bytes of entries wait for the store %s, more than backlog=%d allows: %s (hint: make the store reachable and fast enough, or raise backlog in the URL)",
		waiting, s.config.At, s.config.Backlog, reason)
}

// waiting returns what waits for the store. The caller holds mu.
func (s *Shipper) waiting() (entries uint64, bytes int64, oldest time.Time) {
	for _, c := range s.chains {
		if !c.waits() {
			continue
		}
		entries += c.durable - c.acked
		bytes += c.waiting()
		if oldest.IsZero() || c.behind.Before(oldest) {
			oldest = c.behind
		}
	}
	return entries, bytes, oldest
}

// confirm waits until the store has an entry.
func (s *Shipper) confirm(ctx context.Context, chain string, seq uint64) error {
	limit := time.NewTimer(s.config.confirm)
	defer limit.Stop()
	for {
		s.mu.Lock()
		c := s.chains[chain]
		if c == nil {
			s.mu.Unlock()
			return fmt.Errorf("chain %s is not shipped", chain)
		}
		done, problem, changed, last := c.acked >= seq, c.problem, c.changed, s.lastErr
		s.mu.Unlock()
		switch {
		case done:
			return nil
		case problem != "":
			return fmt.Errorf("the store does not accept chain %s: %s", chain, problem)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("waiting for the store: %w", context.Cause(ctx))
		case <-s.ctx.Done():
			return errors.New("waiting for the store: the process is ending")
		case <-limit.C:
			return fmt.Errorf("the store %s did not confirm entry %d of %s within %v; last error: %s", s.config.At, seq, chain, s.config.confirm, last)
		}
	}
}

// failed notes that the store cannot be used, and logs the first time.
func (s *Shipper) failed(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := s.lastErr == ""
	s.lastErr = fleet.Reason(err)
	if first {
		s.since = time.Now()
		s.config.Log.Warn("the store cannot be reached; ledger entries wait for it", slog.String("store", s.config.At.String()), slog.String("error", s.lastErr))
	}
}

// worked notes that the store has answered, and logs the first time after a failure.
func (s *Shipper) worked() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lastErr == "" {
		return
	}
	entries, _, _ := s.waiting()
	s.config.Log.Info("the store can be reached again", slog.String("store", s.config.At.String()), slog.Duration("after", time.Since(s.since).Round(time.Millisecond)),
		slog.Uint64("waiting", entries))
	s.lastErr = ""
}

// Stats is the state of shipping.
type Stats struct {
	Store   string        `json:"store"`
	Node    string        `json:"node"`
	Mode    fleet.Mode    `json:"ack"`
	Shipped uint64        `json:"shipped"` // entries that this process has appended to the store
	Waiting uint64        `json:"waiting"` // durable entries that the store does not have, except those of chains with a problem
	Bytes   int64         `json:"waiting_bytes"`
	Oldest  time.Duration `json:"oldest_waiting_ns"` // how long the oldest of them waits
	Lost    uint64        `json:"lost_by_store"`     // entries that the store had acknowledged and did not have any more
	Full    bool          `json:"full"`              // the backlog is exceeded, and new entries are refused
	Error   string        `json:"error,omitempty"`   // why the store cannot be used now
	// Problems are the chains that are not shipped any more, with the reason.
	Problems map[string]string `json:"problems,omitempty"`
}

// Stats returns the current state.
func (s *Shipper) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.config.At
	reason := s.lastErr
	if reason == "" && s.weak != nil {
		reason = s.weak.Error()
	}
	out := Stats{Store: at.String(), Node: at.Node, Mode: at.Mode, Shipped: s.shipped, Lost: s.lost, Error: reason, Full: s.full}
	var oldest time.Time
	if out.Waiting, out.Bytes, oldest = s.waiting(); !oldest.IsZero() {
		out.Oldest = time.Since(oldest)
	}
	for name, c := range s.chains {
		if c.problem != "" {
			if out.Problems == nil {
				out.Problems = map[string]string{}
			}
			out.Problems[name] = c.problem
		}
	}
	return out
}

// Close ships the rest, for at most five seconds or until ctx ends, and ends the goroutines. It returns the number of
// entries that still wait: a later process on the folder ships them.
func (s *Shipper) Close(ctx context.Context) (waiting uint64, err error) {
	limit := drain
	s.mu.Lock()
	away := s.lastErr != ""
	s.mu.Unlock()
	if away { // it is away, and the process need not wait long to find out that it still is
		limit = drainAway
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	s.lookAgain() // a chain that was recovered since the last look has ended
	s.waitForChains(ctx, s.mustShip)
	s.mu.Lock()
	s.closing = true
	s.mu.Unlock()
	s.stop()
	s.workers.Wait()
	s.writeCursors()
	return s.left(), s.release()
}

// mustShip reports whether entries wait in a chain that this process has to ship: its own one, or, if it ships those of
// other processes, one that has ended. The caller holds mu.
func (s *Shipper) mustShip(c *chain) bool {
	return c.waits() && (c.own || s.lock != nil && c.ended)
}

// left returns the number of entries that this process had to ship and that wait. It is called after the goroutines have ended.
func (s *Shipper) left() (entries uint64) {
	s.lookAgain() // others may have shipped them meanwhile
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.chains {
		if s.mustShip(c) {
			entries += c.durable - c.acked
		}
	}
	return entries
}

// lookAgain updates the state of the chains that are known.
func (s *Shipper) lookAgain() {
	s.mu.Lock()
	names := slices.Collect(maps.Keys(s.chains))
	s.mu.Unlock()
	for _, name := range names {
		s.lookAt(name)
	}
}

// Wait waits until the store has all entries that are durable now, of all chains, or until ctx ends. Chains with a problem are left out.
func (s *Shipper) Wait(ctx context.Context) {
	select {
	case <-s.looked:
		s.look() // the last look may be a while ago
	case <-ctx.Done():
	}
	s.waitForChains(ctx, func(c *chain) bool { return c.acked < c.durable || c.running && !c.checked })
}

// waitForChains waits until no chain waits, except those with a problem.
func (s *Shipper) waitForChains(ctx context.Context, waits func(*chain) bool) {
	for {
		s.mu.Lock()
		var changed chan struct{}
		for _, c := range s.chains {
			if c.problem == "" && waits(c) {
				changed = c.changed
				break
			}
		}
		s.mu.Unlock()
		if changed == nil {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// release closes everything that is open.
func (s *Shipper) release() error {
	s.stop()
	err := s.root.Close()
	if s.reader != nil {
		err = errors.Join(err, s.reader.Close())
	}
	if s.lock != nil {
		err = errors.Join(err, s.lock.Close())
	}
	if s.store != nil {
		err = errors.Join(err, s.store.Close())
	}
	return err
}
