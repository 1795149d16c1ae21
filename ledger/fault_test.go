package ledger

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/segment/format"
)

// failing makes one operation on one file fail with err while on is set.
func failing(s *faulty, act, name string, err error) (on *atomic.Bool) {
	on = &atomic.Bool{}
	on.Store(true)
	s.set(func(a, n string) error {
		if on.Load() && a == act && n == name {
			return err
		}
		return nil
	})
	return on
}

func TestFailedSyncPoisonsChain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // in which no checkpoint falls due
		dir := t.TempDir()
		s := newFaulty(t, dir)
		l := openTest(t, "", Options{storage: s})
		effect, err := l.Reserve(context.Background(), Entry{Tool: "write_file"})
		if err != nil {
			t.Fatal(err)
		}
		good := appendN(t, l, 3)
		on := failing(s, "sync", format.ActiveSegment, syscall.EIO)
		_, err = l.Append(context.Background(), Entry{Kind: KindFailure})
		wantFault(t, err, candor.CodeLedgerFailed)
		if !errors.Is(err, syscall.EIO) {
			t.Errorf("%v does not wrap its cause", err)
		}
		poisoned := fileOf(t, dir, good.Chain, format.ActiveSegment)
		if _, err := l.Append(context.Background(), Entry{Kind: KindFailure}); err == nil {
			t.Fatal("recorded on a disk that fails")
		}
		if got := chainsOf(t, dir); len(got) != 1 {
			t.Errorf("attempts were left behind: %v", got)
		}
		on.Store(false)
		next := appendN(t, l, 1)
		if next.Chain == good.Chain {
			t.Fatal("the poisoned chain was written again")
		}
		if _, err := effect.Complete(context.Background(), Entry{Outcome: OutcomeOK}); err != nil {
			t.Fatal(err)
		}
		closeTest(t, l)
		if !slices.Equal(poisoned, fileOf(t, dir, good.Chain, format.ActiveSegment)) {
			t.Error("the poisoned segment has changed")
		}
		entries := byHand(t, next.Chain, fileOf(t, dir, next.Chain, format.ActiveSegment))
		data := ofKind(entries, KindRecovered)[0].Data
		if data.Chain != good.Chain || data.Size != good.Seq || data.Last != good.Hash || !data.Poisoned {
			t.Errorf("the new chain says %+v of the poisoned one, which ended at %+v", data, good)
		}
		if len(data.Open) != 1 || data.Open[0].Seq != 2 {
			t.Errorf("open reservations: %v", data.Open)
		}
		if reserve := ofKind(entries, KindComplete)[0].Data.Reserve; reserve.Chain != good.Chain || reserve.Seq != 2 {
			t.Errorf("the completion names %v", reserve)
		}
		if end, ok := readEnd(s.Storage.Files(), good.Chain); ok && end.How != endPoisoned {
			t.Errorf("the end is noted as %+v", end)
		}
	})
}

func TestShortWriteIsUndone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // in which no checkpoint falls due
		dir := t.TempDir()
		s := newFaulty(t, dir)
		l := openTest(t, "", Options{storage: s})
		good := appendN(t, l, 2)
		before := fileOf(t, dir, good.Chain, format.ActiveSegment)
		on := failing(s, "write", format.ActiveSegment, shortWrite{io.ErrShortWrite})
		_, err := l.Append(context.Background(), Entry{Kind: KindFailure})
		wantFault(t, err, candor.CodeLedgerFailed)
		if got := fileOf(t, dir, good.Chain, format.ActiveSegment); !slices.Equal(got, before) {
			t.Errorf("half a record is visible: %q", got[len(before):])
		}
		on.Store(false)
		if next := appendN(t, l, 1); next.Chain != good.Chain || next.Seq != good.Seq+1 {
			t.Errorf("after %+v came %+v", good, next)
		}
		closeTest(t, l)
		byHand(t, good.Chain, fileOf(t, dir, good.Chain, format.ActiveSegment))
	})
}

func TestFullDiskIsRecordedAndRecovers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // in which no checkpoint falls due
		dir := t.TempDir()
		s := newFaulty(t, dir)
		warnings := make(chan Warning, 16)
		l := openTest(t, "", Options{storage: s, OnWarning: func(w Warning) { warnings <- w }})
		good := appendN(t, l, 1)
		var full, reserved atomic.Bool
		full.Store(true)
		reserved.Store(true)
		s.set(func(act, name string) error {
			_, err := os.Stat(filepath.Join(dir, good.Chain, format.ReserveFile))
			kept := err == nil
			if full.Load() && act == "write" && (kept || name == format.ReserveFile) { // once the reserve is removed there is space for one entry
				return shortWrite{syscall.ENOSPC}
			}
			return nil
		})
		for range 5 {
			_, err := l.Append(context.Background(), Entry{Kind: KindFailure, Tool: "refused"})
			wantFault(t, err, candor.CodeLedgerFailed)
			if !errors.Is(err, syscall.ENOSPC) {
				t.Errorf("%v does not say that the disk is full", err)
			}
		}
		if w := <-warnings; w.Kind != warningFull {
			t.Errorf("warned of %v", w)
		}
		full.Store(false)
		next := appendN(t, l, 1)
		if next.Chain != good.Chain {
			t.Errorf("a full disk ended the chain")
		}
		closeTest(t, l)
		entries := byHand(t, good.Chain, fileOf(t, dir, good.Chain, format.ActiveSegment))
		var disk []any
		for _, e := range ofKind(entries, KindSetting)[1:] {
			disk = append(disk, e.Data.Disk, e.Data.Refused)
		}
		if want := []any{"full", 1, "space", 5}; !slices.Equal(disk, want) {
			t.Errorf("entries about the disk: %v, want %v", disk, want)
		}
		if counts := l.Stats(); counts.Failed != 5 {
			t.Errorf("%d failed, want 5", counts.Failed)
		}
	})
}

func TestK20LockAndLogFailuresHaveOwnCodes(t *testing.T) {
	dir := t.TempDir()
	s := testStorage(t, dir)
	release, err := s.Lock(folderLock, newLockNote("other", time.Now()))
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	_, err = Open(dir, Options{LockWait: 50 * time.Millisecond})
	wantFault(t, err, candor.CodeLedgerLocked)
	if took := time.Since(began); took < 50*time.Millisecond {
		t.Errorf("waited for %v", took)
	}
	if !strings.Contains(errors.Unwrap(err).Error(), "process") {
		t.Errorf("%v does not name the holder", err)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	_, err = Open(filepath.Join(dir, folderLock), Options{}) // a file, not a folder
	wantFault(t, err, candor.CodeLedgerFailed)

	f := newFaulty(t, dir)
	l := openTest(t, "", Options{storage: f})
	failing(f, "write", format.ActiveSegment, syscall.EIO)
	performed := false
	if _, err = l.Reserve(context.Background(), Entry{Tool: "write_file"}); err == nil {
		performed = true
	}
	wantFault(t, err, candor.CodeLedgerFailed)
	if performed {
		t.Error("the effect was performed unrecorded")
	}
}

func TestTooManyOpenFiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // in which no checkpoint falls due
		dir := t.TempDir()
		s := newFaulty(t, dir)
		l := openTest(t, "", Options{storage: s, MaxSegmentBytes: minSegmentBytes})
		appendN(t, l, 2)
		on := failing(s, "create", format.ActiveSegment, syscall.EMFILE)
		refused := 0
		for range 40 {
			if _, err := l.Append(context.Background(), Entry{Kind: KindFailure, Cause: strings.Repeat("x", 500)}); err != nil {
				wantFault(t, err, candor.CodeLedgerFailed)
				refused++
			}
		}
		if refused == 0 {
			t.Fatal("the rotation did not fail")
		}
		on.Store(false)
		last := appendN(t, l, 5)
		closeTest(t, l)
		byHand(t, last.Chain, fileOf(t, dir, last.Chain, format.ClosedSegment(1)), fileOf(t, dir, last.Chain, format.ActiveSegment))
	})
}
