package ship

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/cmd/internal/fleet/memstore"
	"github.com/candor-mcp/candor/ledger"
	"github.com/candor-mcp/candor/ledger/verify"
)

// faulty is a store in memory whose requests can fail before and after they take effect.
type faulty struct {
	*memstore.Store
	mu      sync.Mutex
	before  func() error // guarded by mu, as the others
	after   func() error
	durable fleet.Durability
}

func newStore() *faulty {
	return &faulty{Store: memstore.New(), durable: fleet.Durability{Replicas: 3, Synced: true, Quorum: true}}
}

// set sets what fails; nil means nothing.
func (f *faulty) set(before, after func() error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.before, f.after = before, after
}

func (f *faulty) hooks() (before, after func() error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	before, after = f.before, f.after
	if before == nil {
		before = func() error { return nil }
	}
	if after == nil {
		after = func() error { return nil }
	}
	return before, after
}

func (f *faulty) Append(ctx context.Context, chain fleet.Chain, at fleet.Head, lines [][]byte) error {
	before, after := f.hooks()
	if err := before(); err != nil {
		return err
	}
	if _, err := fleet.CheckLines(chain, at, lines); err != nil {
		return err
	}
	if err := f.Store.Append(ctx, chain, at, lines); err != nil {
		return err
	}
	return after()
}

func (f *faulty) Head(ctx context.Context, chain fleet.Chain) (fleet.Head, error) {
	if before, _ := f.hooks(); before != nil {
		if err := before(); err != nil {
			return fleet.Head{}, err
		}
	}
	return f.Store.Head(ctx, chain)
}

func (f *faulty) Durability(context.Context) (fleet.Durability, error) { return f.durable, nil }

// away is the error of a store that cannot be reached.
func away() error {
	return candor.New(candor.CodeUpstreamUnavailable, "", candor.WithCause(errors.New("connection refused")))
}

// logged collects log lines.
type logged struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// rig is a ledger that is shipped.
type rig struct {
	t       testing.TB
	dir     string
	store   fleet.Store
	shipper *Shipper
	ledger  *ledger.Ledger
	log     *logged
}

func configOf(dir string, store fleet.Store, query string, log io.Writer) Config {
	at, err := fleet.ParseLocation("nats://store?node=n&" + query)
	if err != nil {
		panic(err)
	}
	return Config{
		Dir: dir, At: at, Log: slog.New(slog.NewTextHandler(log, nil)), Open: func(context.Context) (fleet.Store, error) { return store, nil },
		poll: 5 * time.Millisecond, backoff: time.Millisecond, confirm: 20 * time.Second,
	}
}

// start opens a ledger that is shipped to store.
func start(t testing.TB, dir string, store fleet.Store, query string, o ledger.Options) *rig {
	t.Helper()
	log := &logged{}
	return startWith(t, configOf(dir, store, query, log), store, log, o)
}

func startWith(t testing.TB, c Config, store fleet.Store, log *logged, o ledger.Options) *rig {
	t.Helper()
	r := &rig{t: t, dir: c.Dir, store: store, log: log}
	var err error
	if r.shipper, err = Start(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if r.ledger, err = ledger.Open(c.Dir, r.shipper.Options(o)); err != nil {
		t.Fatal(err, errors.Unwrap(err))
	}
	r.shipper.RecordIn(r.ledger)
	t.Cleanup(func() {
		_ = r.ledger.Close()
		if r.shipper != nil {
			_, _ = r.shipper.Close(cancelled())
		}
	})
	return r
}

// cancelled returns a context that has ended.
func cancelled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

func (r *rig) append(n int) (last ledger.Receipt) {
	r.t.Helper()
	for range n {
		var err error
		if last, err = r.ledger.Append(context.Background(), ledger.Entry{Kind: ledger.KindSuccess, Tool: "t"}); err != nil {
			r.t.Fatal(err, errors.Unwrap(err))
		}
	}
	return last
}

// close ends the ledger and the shipper, and fails the test if entries wait.
func (r *rig) close() {
	r.t.Helper()
	if err := r.ledger.Close(); err != nil {
		r.t.Error(err)
	}
	waiting, err := r.shipper.Close(context.Background())
	r.shipper = nil
	if err != nil || waiting > 0 {
		r.t.Errorf("%d entries wait, %v; log:\n%s", waiting, err, r.log)
	}
}

// eventually waits for a condition.
func eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if is() {
			return
		}
	}
	t.Fatalf("timed out: %s", what)
}

// local returns the lines of a chain in a folder.
func local(t testing.TB, dir, chain string) [][]byte {
	t.Helper()
	r, err := ledger.OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close() //nolint:errcheck // only read
	var lines [][]byte
	for l, err := range r.Entries(t.Context(), ledger.ReadOptions{Chain: chain}) {
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, slices.Clone(l.Raw()))
	}
	return lines
}

func stored(t testing.TB, store fleet.Store, chain string) [][]byte {
	t.Helper()
	var lines [][]byte
	for l, err := range store.Lines(t.Context(), fleet.Chain{Node: "n", Name: chain}, 0) {
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, slices.Clone(l.Line))
	}
	return lines
}

func chainsOf(t testing.TB, dir string) []string {
	t.Helper()
	r, err := ledger.OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close() //nolint:errcheck // only read
	names, err := r.Chains()
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// same fails the test unless the store has exactly the lines of the folder.
func same(t testing.TB, dir string, store fleet.Store) {
	t.Helper()
	names := chainsOf(t, dir)
	for _, name := range names {
		want, got := local(t, dir, name), stored(t, store, name)
		if !slices.EqualFunc(want, got, bytes.Equal) {
			t.Errorf("chain %s has %d lines here and %d in the store", name, len(want), len(got))
		}
	}
	kept, err := store.Chains(t.Context())
	if err != nil || len(kept) != len(names) {
		t.Errorf("the store has %d chains, want %d (%v)", len(kept), len(names), err)
	}
}

func TestEveryEntryIsShippedInOrder(t *testing.T) {
	t.Parallel()
	for _, mode := range fleet.Modes {
		t.Run(string(mode), func(t *testing.T) {
			dir, store := t.TempDir(), newStore()
			r := start(t, dir, store, "ack="+string(mode), ledger.Options{MaxSegmentBytes: 16 << 10, Compress: true})
			var callers sync.WaitGroup
			for range 8 {
				callers.Go(func() {
					for range 100 {
						receipt, err := r.ledger.Append(context.Background(), ledger.Entry{Kind: ledger.KindSuccess})
						if err != nil {
							t.Error(err)
						}
						if head, _ := store.Store.Head(t.Context(), fleet.Chain{Node: "n", Name: receipt.Chain}); mode != fleet.ModeLocal && head.Seq < receipt.Seq {
							t.Errorf("entry %d was acknowledged, and the store has %d", receipt.Seq, head.Seq)
						}
					}
				})
			}
			callers.Wait()
			r.close()
			same(t, dir, store)
			if report, err := verify.Dir(t.Context(), dir, verify.Options{}); err != nil || !report.OK {
				t.Errorf("verify: %+v, %v", report, err)
			}
		})
	}
}

func TestNothingIsLostOrStoredTwiceWhenRequestsFail(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		dir, store := t.TempDir(), newStore()
		random := rand.New(rand.NewPCG(seed, 1))
		var mu sync.Mutex
		fail := func() error {
			mu.Lock()
			defer mu.Unlock()
			if random.IntN(3) == 0 {
				return away()
			}
			return nil
		}
		store.set(fail, fail)
		r := start(t, dir, store, "", ledger.Options{MaxSegmentBytes: 8 << 10})
		r.append(500)
		if err := r.ledger.Close(); err != nil {
			t.Fatal(err)
		}
		r.shipper.Wait(t.Context())
		r.close()
		same(t, dir, store)
	}
}

func TestSeveralProcessesShipOneFolder(t *testing.T) {
	t.Parallel()
	dir, store := t.TempDir(), newStore()
	var all []*rig
	for range 3 {
		all = append(all, start(t, dir, store, "", ledger.Options{}))
	}
	var callers sync.WaitGroup
	for _, r := range all {
		callers.Go(func() { r.append(300) })
	}
	callers.Wait()
	for _, r := range all {
		r.close()
	}
	same(t, dir, store)
}

// TestAShipperWithoutAWriter ships the chains of another process that runs, and then ends, as candor fleet ship does.
func TestAShipperWithoutAWriter(t *testing.T) {
	t.Parallel()
	dir, store := t.TempDir(), newStore()
	l, err := ledger.Open(dir, ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // a second close returns the error of the first
	log := &logged{}
	s, err := Start(t.Context(), configOf(dir, store, "", log))
	if err != nil {
		t.Fatal(err)
	}
	var last ledger.Receipt
	for range 300 { // more than a checkpoint covers
		if last, err = l.Append(t.Context(), ledger.Entry{Kind: ledger.KindSuccess}); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "lines that a checkpoint covers are shipped", func() bool { return len(stored(t, store, last.Chain)) >= 200 })
	r, err := ledger.OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close() //nolint:errcheck // only read
	head, _ := store.Head(t.Context(), fleet.Chain{Node: "n", Name: last.Chain})
	if durable, _, err := r.Durable(last.Chain); err != nil || head.Seq > durable {
		t.Errorf("the store has %d entries, and only %d are known to be durable (%v)", head.Seq, durable, err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	want := local(t, dir, last.Chain)
	eventually(t, "the whole chain is shipped", func() bool { return len(stored(t, store, last.Chain)) == len(want) })
	if waiting, err := s.Close(t.Context()); err != nil || waiting != 0 {
		t.Error(waiting, err)
	}
	same(t, dir, store)
	var noted cursor
	if s.root, err = os.OpenRoot(dir); err != nil {
		t.Fatal(err)
	}
	if noted = s.readCursor(last.Chain); noted.Seq != uint64(len(want)) {
		t.Errorf("the folder notes %+v as shipped, want %d", noted, len(want))
	}
	_ = s.root.Close()
}

func TestChainsOfKilledProcessesAreShipped(t *testing.T) {
	t.Parallel()
	live, store := t.TempDir(), newStore()
	l, err := ledger.Open(live, ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		if _, err := l.Append(t.Context(), ledger.Entry{Kind: ledger.KindSuccess}); err != nil {
			t.Fatal(err)
		}
	}
	dir := copyOf(t, live) // as a kill leaves it
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	r := start(t, dir, store, "", ledger.Options{})
	r.shipper.Wait(t.Context())
	eventually(t, "the recovered chain is shipped", func() bool {
		names, _ := store.Chains(t.Context())
		return len(names) == 2 && r.shipper.Stats().Waiting == 0
	})
	r.close()
	same(t, dir, store)
}

func TestCallsGoOnWhileTheStoreIsAway(t *testing.T) {
	t.Parallel()
	dir, store := t.TempDir(), newStore()
	store.set(away, nil)
	log := &logged{}
	c := configOf(dir, store, "", log)
	var opened atomic.Bool
	c.Open = func(context.Context) (fleet.Store, error) {
		if !opened.Load() {
			return nil, away()
		}
		return store, nil
	}
	r := startWith(t, c, store, log, ledger.Options{})
	r.append(100)
	eventually(t, "the failure is visible", func() bool { return r.shipper.Stats().Error != "" })
	if s := r.shipper.Stats(); s.Waiting < 100 || s.Bytes < 100 || s.Oldest <= 0 || s.Shipped != 0 {
		t.Errorf("stats: %+v", s)
	}
	opened.Store(true)
	r.append(100)
	store.set(nil, nil)
	eventually(t, "all is shipped", func() bool { return r.shipper.Stats().Waiting == 0 })
	r.close()
	same(t, dir, store)
	if text := r.log.String(); strings.Count(text, "cannot be reached") != 1 || strings.Count(text, "reached again") != 1 {
		t.Errorf("log:\n%s", text)
	}
}

func TestBothRefusesEntriesThatTheStoreDoesNotConfirm(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"both", "quorum"} {
		dir, store, log := t.TempDir(), newStore(), &logged{}
		c := configOf(dir, store, "ack="+mode, log)
		c.confirm = 50 * time.Millisecond
		r := startWith(t, c, store, log, ledger.Options{})
		store.set(away, nil)
		_, err := r.ledger.Append(t.Context(), ledger.Entry{Kind: ledger.KindSuccess})
		if candor.CodeOf(err) != candor.CodeLedgerFailed || !strings.Contains(errors.Unwrap(err).Error(), "did not confirm") {
			t.Fatalf("%s: got %v, want AUDIT_LOG_FAILED", mode, err)
		}
		if _, err = r.ledger.Append(cancelled(), ledger.Entry{Kind: ledger.KindSuccess}); candor.CodeOf(err) != candor.CodeLedgerFailed {
			t.Errorf("%s: a cancelled caller got %v", mode, err)
		}
		store.set(nil, nil)
		eventually(t, "entries are accepted again", func() bool {
			_, err := r.ledger.Append(t.Context(), ledger.Entry{Kind: ledger.KindSuccess})
			return err == nil
		})
		r.close()
		same(t, dir, store)
	}
}

func TestModesDemandDurability(t *testing.T) {
	t.Parallel()
	lazy := fleet.Durability{Replicas: 3, Reason: "its machines sync every two minutes", Change: "set sync_interval to always"}
	for query, want := range map[string]string{
		"ack=local":  "",
		"ack=both":   "synced each entry to disk",
		"ack=quorum": "majority of at least three machines",
	} {
		store := newStore()
		store.durable = lazy
		s, err := Start(t.Context(), configOf(t.TempDir(), store, query, io.Discard))
		if s != nil {
			_, _ = s.Close(cancelled())
		}
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), lazy.Reason) ||
			!strings.Contains(err.Error(), "hint: "+lazy.Change)) {
			t.Errorf("%s: %v", query, err)
		}
	}
}

func TestOnlyLocalStartsWithoutTheStore(t *testing.T) {
	t.Parallel()
	for query, ok := range map[string]bool{"ack=local": true, "ack=both": false, "ack=quorum": false} {
		c := configOf(t.TempDir(), nil, query, io.Discard)
		c.Open = func(context.Context) (fleet.Store, error) { return nil, away() }
		s, err := Start(t.Context(), c)
		if (err == nil) != ok {
			t.Errorf("%s: %v", query, err)
		}
		if err == nil {
			_, _ = s.Close(cancelled())
		} else if !strings.Contains(err.Error(), "connection refused") {
			t.Errorf("the reason is missing: %v", err)
		}
	}
	c := configOf(t.TempDir(), nil, "", io.Discard)
	c.Open = func(context.Context) (fleet.Store, error) { return nil, errors.New("creds: no such file") }
	if _, err := Start(t.Context(), c); err == nil {
		t.Error("started with a mistake in the URL")
	}
}

func TestBacklogIsBounded(t *testing.T) {
	t.Parallel()
	dir, store := t.TempDir(), newStore()
	store.set(away, nil)
	r := start(t, dir, store, "backlog=20kB", ledger.Options{})
	var refused error
	for range 200 {
		if _, err := r.ledger.Append(t.Context(), ledger.Entry{Kind: ledger.KindSuccess}); err != nil {
			refused = err
			break
		}
	}
	if candor.CodeOf(refused) != candor.CodeLedgerFailed || !strings.Contains(errors.Unwrap(refused).Error(), "backlog") {
		t.Fatalf("the backlog is not bounded: %v", refused)
	}
	if s := r.shipper.Stats(); !s.Full || s.Bytes < 20e3 || s.Bytes > 40e3 {
		t.Errorf("stats: %+v", s)
	}
	store.set(nil, nil)
	eventually(t, "entries are accepted again", func() bool {
		_, err := r.ledger.Append(t.Context(), ledger.Entry{Kind: ledger.KindSuccess})
		return err == nil
	})
	r.close()
	same(t, dir, store)
}

func TestBacklogCountsEarlierProcesses(t *testing.T) {
	t.Parallel()
	dir, store := t.TempDir(), newStore()
	store.set(away, nil)
	first := start(t, dir, store, "", ledger.Options{})
	first.append(100)
	_ = first.ledger.Close()
	if waiting, err := first.shipper.Close(cancelled()); err != nil || waiting < 100 {
		t.Errorf("%d entries wait, %v", waiting, err)
	}
	first.shipper = nil
	r := start(t, dir, store, "backlog=20kB", ledger.Options{})
	eventually(t, "entries are refused", func() bool {
		_, err := r.ledger.Append(t.Context(), ledger.Entry{Kind: ledger.KindSuccess})
		return err != nil
	})
	store.set(nil, nil)
	eventually(t, "entries are accepted again", func() bool {
		_, err := r.ledger.Append(t.Context(), ledger.Entry{Kind: ledger.KindSuccess})
		return err == nil
	})
	r.close()
	same(t, dir, store)
}

// shippedOnce ships a few entries of one chain and returns its name.
func shippedOnce(t *testing.T, dir string, store fleet.Store, n int) string {
	t.Helper()
	r := start(t, dir, store, "", ledger.Options{})
	chain := r.append(n).Chain
	r.close()
	return chain
}

func TestAForkedChainIsNotShipped(t *testing.T) {
	t.Parallel()
	dir, store := t.TempDir(), newStore()
	chain := shippedOnce(t, dir, store, 20)
	forged := []byte(strings.Replace(string(stored(t, store, chain)[9]), `"tool":"t"`, `"tool":"u"`, 1))
	forged = rehash(forged)
	store.Edit(fleet.Chain{Node: "n", Name: chain}, func(lines [][]byte) [][]byte { return append(lines[:9], forged) })
	r := start(t, dir, store, "", ledger.Options{})
	eventually(t, "the fork is found", func() bool { return r.shipper.Stats().Problems[chain] != "" })
	own := r.append(1).Chain
	eventually(t, "the problem is recorded", func() bool { return bytes.Contains(bytes.Join(local(t, dir, own), nil), []byte(`"shipping":{`)) })
	eventually(t, "the other chain is shipped", func() bool { return len(stored(t, store, own)) >= 2 })
	if !strings.Contains(r.log.String(), "entry=10") || !strings.Contains(r.log.String(), chain) {
		t.Errorf("log:\n%s", r.log)
	}
	if got := stored(t, store, chain); len(got) != 10 {
		t.Errorf("the store has %d lines of the forked chain", len(got))
	}
}

// rehash gives a changed line a hash that fits.
func rehash(line []byte) []byte {
	cut := bytes.LastIndex(line, []byte(`,"hash":"`))
	return fmt.Appendf(nil, `%s,"hash":"%x"}`, line[:cut], sum(line[:cut]))
}

func TestAFolderThatWasSetBackIsFound(t *testing.T) {
	t.Parallel()
	dir, store := t.TempDir(), newStore()
	r := start(t, dir, store, "", ledger.Options{})
	r.append(5)
	old := copyOf(t, dir)
	chain := r.append(5).Chain
	r.close()
	r = start(t, old, store, "", ledger.Options{})
	eventually(t, "the longer copy is found", func() bool { return strings.Contains(r.shipper.Stats().Problems[chain], "set back") })
	if len(stored(t, store, chain)) != len(local(t, dir, chain)) {
		t.Error("the store was changed")
	}
}

func TestEntriesThatTheStoreLostAreShippedAgain(t *testing.T) {
	t.Parallel()
	dir, store := t.TempDir(), newStore()
	chain := shippedOnce(t, dir, store, 20)
	store.Edit(fleet.Chain{Node: "n", Name: chain}, func(lines [][]byte) [][]byte { return lines[:5] })
	r := start(t, dir, store, "", ledger.Options{})
	eventually(t, "the chain is whole again", func() bool { return len(stored(t, store, chain)) == len(local(t, dir, chain)) })
	if s := r.shipper.Stats(); s.Lost == 0 || !strings.Contains(r.log.String(), "the store lost entries it had acknowledged") {
		t.Errorf("stats %+v, log:\n%s", s, r.log)
	}
	r.close()
	same(t, dir, store)
}

func TestQuorumRestoresWhatAPowerCutRemoved(t *testing.T) {
	t.Parallel()
	dir, store := t.TempDir(), newStore()
	r := start(t, dir, store, "ack=quorum", ledger.Options{})
	chain := r.append(50).Chain
	cut := copyOf(t, dir)
	r.close()
	file := filepath.Join(cut, chain, "audit-log.jsonl")
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, whole[:len(whole)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	head, _ := store.Head(t.Context(), fleet.Chain{Node: "n", Name: chain})
	r = start(t, cut, store, "ack=quorum", ledger.Options{})
	r.append(1)
	r.close()
	if got := local(t, cut, chain); uint64(len(got)) != head.Seq {
		t.Errorf("%d of %d entries are back", len(got), head.Seq)
	}
	same(t, cut, store)
	if report, err := verify.Dir(t.Context(), cut, verify.Options{}); err != nil || !report.OK {
		t.Errorf("verify: %+v, %v", report, err)
	}
}

func TestADamagedLineIsNotShipped(t *testing.T) {
	t.Parallel()
	dir, store := t.TempDir(), newStore()
	l, err := ledger.Open(dir, ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var chain string
	for range 10 {
		receipt, err := l.Append(t.Context(), ledger.Entry{Kind: ledger.KindSuccess, Tool: "t"})
		if err != nil {
			t.Fatal(err)
		}
		chain = receipt.Chain
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, chain, "audit-log.jsonl")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	lines[5] = bytes.Replace(lines[5], []byte(`"tool":"t"`), []byte(`"tool":"u"`), 1)
	if err := os.WriteFile(file, bytes.Join(lines, nil), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Start(t.Context(), configOf(dir, store, "", io.Discard))
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the damage is found", func() bool { return strings.Contains(s.Stats().Problems[chain], "entry 6") })
	if got := stored(t, store, chain); len(got) != 5 {
		t.Errorf("the store has %d lines, want the 5 before the damage", len(got))
	}
	if _, err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestRetentionKeepsWhatTheStoreDoesNotHave(t *testing.T) {
	t.Parallel()
	dir, store := t.TempDir(), newStore()
	store.set(away, nil)
	r := start(t, dir, store, "", ledger.Options{MaxSegmentBytes: 4 << 10})
	r.append(200)
	pruned := func() int {
		p, err := ledger.Prunable(dir, ledger.Options{RetainBytes: 1})
		if err != nil {
			t.Fatal(err)
		}
		return len(p.Removed)
	}
	if n := pruned(); n != 0 {
		t.Errorf("%d segments would be removed", n)
	}
	store.set(nil, nil)
	eventually(t, "shipped segments may be removed", func() bool { return pruned() > 5 })
	if _, err := ledger.Prune(t.Context(), dir, ledger.Options{RetainBytes: 1}); err != nil {
		t.Fatal(err)
	}
	r.close()
	// The chain can still be compared with the store, and a new process has nothing to complain about.
	r = start(t, dir, store, "", ledger.Options{})
	r.shipper.Wait(t.Context())
	if s := r.shipper.Stats(); len(s.Problems) > 0 || s.Lost > 0 {
		t.Errorf("stats: %+v", s)
	}
	r.close()
}

func TestAFolderBelongsToOneNode(t *testing.T) {
	t.Parallel()
	dir, store := t.TempDir(), newStore()
	chain := shippedOnce(t, dir, store, 3)
	c := configOf(dir, store, "", io.Discard)
	c.At.Node = "other"
	if _, err := Start(t.Context(), c); err == nil || !strings.Contains(err.Error(), "node=n") {
		t.Errorf("another node: %v", err)
	}
	c = configOf(dir, newStore(), "", io.Discard)
	c.At.URL.Host = "new-store"
	s, err := Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	s.Wait(t.Context())
	if st := s.Stats(); st.Lost > 0 || st.Shipped != uint64(len(local(t, dir, chain))) {
		t.Errorf("after a change of the store: %+v", st)
	}
	if _, err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestBadBacklogIsRefused(t *testing.T) {
	t.Parallel()
	if _, err := Start(t.Context(), configOf(t.TempDir(), newStore(), "backlog=much", io.Discard)); err == nil || !strings.Contains(err.Error(), "hint") {
		t.Error(err)
	}
}

func TestLocateReadsFoldersAndStores(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ named, env, dir, store string }{
		{"", "", "fallback", ""},
		{"here", "nats://h", "here", ""},
		{"", "there", "there", ""},
		{"none", "", "none", ""},
		{"file:here", "", "here", ""},
		{"file:///a%20b", "", "/a b", ""},
		{"file:/store?dir=here", "", "here", "file:///store"},
		{"nats://h/S?dir=here", "", "here", "nats://h/S"},
		{"", "nats://h?node=x", "fallback", "nats://h"},
	} {
		dir, at, err := Locate(c.named, func(string) string { return c.env }, func() (string, error) { return "fallback", nil })
		store := ""
		if at != nil {
			store = at.String()
		}
		if err != nil || dir != c.dir || store != c.store && !strings.HasPrefix(c.store, "file:") || (store == "") != (c.store == "") {
			t.Errorf("%+v: %q, %q, %v", c, dir, store, err)
		}
	}
	for _, bad := range []string{"file:", "file://host/x", "nats://u:secret@h"} {
		if dir, _, err := Locate(bad, func(string) string { return "" }, nil); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %q, %v", bad, dir, err)
		}
	}
}

func sum(b []byte) []byte {
	h := sha256.Sum256(b)
	return h[:]
}

// copyOf copies the folder of a running ledger. A small file may be replaced meanwhile.
func copyOf(t *testing.T, dir string) string {
	t.Helper()
	for {
		to := t.TempDir()
		err := os.CopyFS(to, os.DirFS(dir))
		if err == nil {
			return to
		}
		if !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
}
