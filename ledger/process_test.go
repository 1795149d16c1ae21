package ledger

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/candor-mcp/candor/ledger/internal/format"
	"github.com/candor-mcp/candor/ledger/internal/storage"
)

// TestMain can run the test binary as a child process that appends until it is done or killed, and prints each
// receipt after Append has returned it.
func TestMain(m *testing.M) {
	if dir := os.Getenv("CANDOR_LEDGER_CHILD"); dir != "" {
		os.Exit(child(dir))
	}
	os.Exit(m.Run())
}

func child(dir string) int {
	l, err := Open(dir, Options{LockWait: time.Minute, MaxSegmentBytes: 64 << 10})
	if err != nil {
		fmt.Println("error", err, errors.Unwrap(err))
		return 1
	}
	var mu sync.Mutex
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 125 {
				r, err := l.Append(context.Background(), Entry{Kind: KindFailure, Tool: "t"})
				mu.Lock()
				if err != nil {
					fmt.Println("error", err)
				} else {
					fmt.Println(r.Chain, r.Seq, r.Hash)
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if err := l.Close(); err != nil {
		fmt.Println("error", err)
		return 1
	}
	return 0
}

// startChild runs a child and reads its receipts. It kills the child after killAfter receipts, or never.
func startChild(t *testing.T, dir string, killAfter int) (receipts []Receipt) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "CANDOR_LEDGER_CHILD="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Error(err)
		return nil
	}
	if err := cmd.Start(); err != nil {
		t.Error(err)
		return nil
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "error") {
			t.Error(lines.Text())
		}
		var r Receipt
		if n, _ := fmt.Sscan(lines.Text(), &r.Chain, &r.Seq, &r.Hash); n == 3 {
			receipts = append(receipts, r)
		}
		if len(receipts) == killAfter {
			_ = cmd.Process.Kill()
		}
	}
	if err := cmd.Wait(); err != nil && killAfter == 0 {
		t.Error(err)
	}
	return receipts
}

func TestK18TwoProcessesAppendAThousandEntriesEach(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var mu sync.Mutex
	var all []Receipt
	var children sync.WaitGroup
	for range 2 {
		children.Go(func() {
			receipts := startChild(t, dir, 0)
			mu.Lock()
			defer mu.Unlock()
			all = append(all, receipts...)
		})
	}
	children.Wait()
	unique := map[string]bool{}
	for _, r := range all {
		unique[fmt.Sprint(r.Chain, r.Seq)] = true
	}
	if len(all) != 2000 || len(unique) != 2000 {
		t.Errorf("%d receipts, %d unique", len(all), len(unique))
	}
	chains := chainsOf(t, dir)
	if len(chains) != 2 {
		t.Errorf("chains: %v", chains)
	}
	for _, chain := range chains {
		checkReceipts(t, dir, chain, all)
	}
}

func TestK19KillLosesNoAcknowledgedEntry(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	kills := 12
	if testing.Short() {
		kills = 3
	}
	var all []Receipt
	for i := range kills {
		all = append(all, startChild(t, dir, 1+i*67)...)
	}
	l := openTest(t, dir, Options{})
	for _, chain := range chainsOf(t, dir) {
		if chain != *l.writing.Load() {
			checkReceipts(t, dir, chain, all)
		}
	}
	if len(all) == 0 {
		t.Error("nothing was appended")
	}
}

func TestChainLockExcludesSecondWriter(t *testing.T) {
	dir := t.TempDir()
	l := openTest(t, dir, Options{})
	appendN(t, l, 3)
	own := *l.writing.Load()
	s := testStorage(t, dir)
	if _, err := s.Lock(own+"/"+chainLock, nil); !errors.Is(err, storage.ErrLocked) {
		t.Errorf("the chain's lock can be taken twice: %v", err)
	}
	if _, err := beginChain(s, own, time.Now(), false); !errors.Is(err, storage.ErrLocked) {
		t.Errorf("the chain can be begun twice: %v", err)
	}
	other := openTest(t, dir, Options{})
	if *other.writing.Load() == own {
		t.Error("two writers on one chain")
	}
	appendN(t, other, 3)
	appendN(t, l, 3)
	closeTest(t, other)
	closeTest(t, l)
	for _, chain := range chainsOf(t, dir) {
		for _, e := range ofKind(byHand(t, chain, fileOf(t, dir, chain, format.ActiveSegment)), KindRecovered) {
			t.Errorf("a live chain was recovered: %+v", e.Data)
		}
	}
}
