package ship

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/internal/testing/wait"
	"github.com/candor-mcp/candor/ledger"
	"github.com/candor-mcp/candor/ledger/verify"
)

func TestEveryEntryIsShippedInOrder(t *testing.T) {
	t.Parallel()
	for _, mode := range fleet.Modes {
		t.Run(string(mode), func(t *testing.T) {
			dir, store := t.TempDir(), newStore(t)
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
		dir, store := t.TempDir(), newStore(t)
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
	dir, store := t.TempDir(), newStore(t)
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
	dir, store := t.TempDir(), newStore(t)
	l, err := ledger.Open(dir, ledger.Options{MaxSegmentBytes: 16 << 10})
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
	wait.Until(t, "lines that a checkpoint covers are shipped", func() bool { return len(stored(t, store, last.Chain)) >= 200 })
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
	wait.Until(t, "the whole chain is shipped", func() bool { return len(stored(t, store, last.Chain)) == len(want) })
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

func TestCallsGoOnWhileTheStoreIsAway(t *testing.T) {
	t.Parallel()
	dir, store := t.TempDir(), newStore(t)
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
	wait.Until(t, "the failure is visible", func() bool { return r.shipper.Stats().Error != "" })
	if s := r.shipper.Stats(); s.Waiting < 100 || s.Bytes < 100 || s.Oldest <= 0 || s.Shipped != 0 {
		t.Errorf("stats: %+v", s)
	}
	opened.Store(true)
	r.append(100)
	store.set(nil, nil)
	wait.Until(t, "all is shipped", func() bool { return r.shipper.Stats().Waiting == 0 })
	r.close()
	same(t, dir, store)
	if text := r.log.String(); strings.Count(text, "cannot be reached") != 1 || strings.Count(text, "reached again") != 1 {
		t.Errorf("log:\n%s", text)
	}
}

func TestBothRefusesEntriesThatTheStoreDoesNotConfirm(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"both", "quorum"} {
		dir, store, log := t.TempDir(), newStore(t), &logged{}
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
		wait.Until(t, "entries are accepted again", func() bool {
			_, err := r.ledger.Append(t.Context(), ledger.Entry{Kind: ledger.KindSuccess})
			return err == nil
		})
		r.close()
		same(t, dir, store)
	}
}

func TestModesDemandDurability(t *testing.T) {
	t.Parallel()
	lazy := fleet.Durability{Replicas: 3, Gap: fleet.Wrong("its machines sync every two minutes", "set sync_interval to always")}
	for query, want := range map[string]string{
		"ack=local":  "",
		"ack=both":   "synced each entry to disk",
		"ack=quorum": "majority of at least three machines",
	} {
		store := newStore(t)
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

func TestEntriesAreRefusedWhileTheStorePromisesLess(t *testing.T) {
	t.Parallel()
	safe := fleet.Durability{Replicas: 3, Synced: true, Quorum: true}
	lazy := fleet.Durability{Replicas: 3, Gap: fleet.Wrong("server b syncs only from time to time", "set sync_interval to always")}
	silent := fleet.Durability{Replicas: 3, Gap: fleet.Unverified("server b did not answer", "")}
	for _, query := range []string{"ack=both", "ack=quorum"} {
		store := newStore(t)
		log := &logged{}
		c := configOf(t.TempDir(), store, query, log)
		c.recheck = 5 * time.Millisecond
		r := startWith(t, c, store, log, ledger.Options{})
		r.append(1)

		store.promise(t, silent)
		r.append(1) // a majority still acknowledges

		store.promise(t, lazy)
		_, refused := r.ledger.Append(t.Context(), ledger.Entry{Kind: ledger.KindSuccess})
		if text := fmt.Sprint(refused, errors.Unwrap(refused)); refused == nil || !strings.Contains(text, lazy.Reason) || !strings.Contains(text, lazy.Change) {
			t.Errorf("%s: %v, want the reason and what to change", query, refused)
		}
		if said := r.shipper.Stats().Error; !strings.Contains(said, lazy.Reason) {
			t.Errorf("%s: the state says %q", query, said)
		}
		store.promise(t, silent)
		if _, err := r.ledger.Append(t.Context(), ledger.Entry{Kind: ledger.KindSuccess}); err == nil {
			t.Errorf("%s: an entry was accepted before the store was verified to promise enough again", query)
		}

		store.promise(t, safe)
		r.append(1)
		if strings.Count(log.String(), "does not promise enough any more") != 1 || strings.Count(log.String(), "promises enough again") != 1 {
			t.Errorf("%s: log\n%s", query, log.String())
		}
		r.close()
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
	dir, store := t.TempDir(), newStore(t)
	store.set(away, nil)
	log := &logged{}
	c := configOf(dir, store, "", log)
	c.Backlog = 20e3
	r := startWith(t, c, store, log, ledger.Options{})
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
	wait.Until(t, "entries are accepted again", func() bool {
		_, err := r.ledger.Append(t.Context(), ledger.Entry{Kind: ledger.KindSuccess})
		return err == nil
	})
	r.close()
	same(t, dir, store)
}

// TestBacklogLeavesOutWhatIsNeverShipped has a chain with a problem that is larger than the backlog.
func TestBacklogLeavesOutWhatIsNeverShipped(t *testing.T) {
	t.Parallel()
	dir, bad := written(t, 200)
	store, log := newStore(t), &logged{}
	foreign := local(t, dir, bad)[0]
	forged := rehash([]byte(strings.Replace(string(foreign), `"version":1`, `"version":2`, 1)))
	store.edit(t, bad, [][]byte{forged})
	c := configOf(dir, store, "", log)
	c.Backlog = 20e3
	r := startWith(t, c, store, log, ledger.Options{})
	wait.Until(t, "the problem is found", func() bool { return r.shipper.Stats().Problems[bad] != "" })
	wait.Until(t, "entries are accepted", func() bool {
		_, err := r.ledger.Append(t.Context(), ledger.Entry{Kind: ledger.KindSuccess})
		return err == nil
	})
	r.close()
}
