package ship

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/cmd/internal/fleet/filestore"
	"github.com/candor-mcp/candor/internal/testing/wait"
	"github.com/candor-mcp/candor/ledger"
)

// faulty is a store in a folder; its requests can fail before and after they take effect.
type faulty struct {
	fleet.Store
	dir     string
	mu      sync.Mutex
	before  func() error // guarded by mu, as the others
	after   func() error
	durable fleet.Durability
	asked   int // for durable
}

func newStore(t testing.TB) *faulty {
	t.Helper()
	dir := t.TempDir()
	store := filestore.Open(dir)
	t.Cleanup(func() { _ = store.Close() })
	return &faulty{Store: store, dir: dir, durable: fleet.Durability{Replicas: 3, Synced: true, Quorum: true}}
}

// Close leaves the folder open for the next shipper.
func (f *faulty) Close() error { return nil }

// edit replaces the lines of a chain, as an attacker with access to the store could.
func (f *faulty) edit(t testing.TB, chain string, lines [][]byte) {
	t.Helper()
	dir := filepath.Join(f.dir, "n", chain)
	err := os.MkdirAll(dir, 0o700)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "audit-log.jsonl"), append(bytes.Join(lines, []byte("\n")), '\n'), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
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

func (f *faulty) Durability(context.Context) (fleet.Durability, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked++
	return f.durable, nil
}

// promise changes what the store promises, and waits until the shipper has taken notice.
func (f *faulty) promise(t *testing.T, d fleet.Durability) {
	t.Helper()
	f.mu.Lock()
	f.durable = d
	before := f.asked
	f.mu.Unlock()
	wait.Until(t, "the shipper asks again", func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		return f.asked > before+1 // so it has handled one answer
	})
}

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

// written returns a folder with one closed chain, and the name of the chain.
func written(t *testing.T, n int) (dir, chain string) {
	t.Helper()
	dir = t.TempDir()
	l, err := ledger.Open(dir, ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range n {
		receipt, err := l.Append(t.Context(), ledger.Entry{Kind: ledger.KindSuccess, Tool: "t"})
		if err != nil {
			t.Fatal(err)
		}
		chain = receipt.Chain
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return dir, chain
}
