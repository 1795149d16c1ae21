package ledger_test

import (
	"flag"
	"math/rand/v2"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/candor-mcp/candor/ledger"
)

var kills = flag.Int("kills", 12, "how many writers TestR1SigkillLosesNothing kills")

// TestR1SigkillLosesNothing kills writers with 16 callers at random moments, and compares the receipts they printed
// with the entries on the disk.
func TestR1SigkillLosesNothing(t *testing.T) {
	t.Parallel()
	count := *kills
	if testing.Short() {
		count = 6
	}
	const perFolder = 10 // a folder with traces of many kills is a different case from a new one
	var left, receipts, silent atomic.Int64
	left.Store(int64(count))
	var wg sync.WaitGroup
	for range 2 * runtime.GOMAXPROCS(0) { // they mostly wait for the disk
		wg.Go(func() {
			for !t.Failed() {
				dir := t.TempDir() + "/ledger"
				var said []receipt
				for i := 0; i < perFolder && left.Add(-1) >= 0; i++ {
					received := killOne(t, dir)
					if len(received) == 0 {
						silent.Add(1)
					}
					receipts.Add(int64(len(received)))
					said = append(said, received...)
				}
				if left.Load() < 0 && said == nil {
					return
				}
				reopens(t, dir)
				holdsAll(t, dir, said)
				verifiesClean(t, dir)
			}
		})
	}
	wg.Wait()
	t.Logf("%d kills, %d receipts, %d writers died before the first", count, receipts.Load(), silent.Load())
	if int(silent.Load()) > count/2 {
		t.Error("most writers died before they wrote anything: this proves little")
	}
}

// killOne starts a writer and kills it shortly after its first receipt or, one time in eight, possibly before it.
func killOne(t *testing.T, dir string) (said []receipt) {
	cmd := process(t, "writer", dir, countVar+"=0", callersVar+"="+strconv.Itoa(16))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Error(err)
		return nil
	}
	if err := cmd.Start(); err != nil {
		t.Error(err)
		return nil
	}
	first := make(chan struct{})
	go func() {
		if rand.IntN(8) > 0 {
			<-first
		}
		time.Sleep(time.Duration(rand.IntN(60_000)) * time.Microsecond) // the moment of a kill is random
		_ = cmd.Process.Kill()                                          // it may have exited already, which Wait reports
	}()
	err = readReceipts(out, func(r receipt) {
		if said = append(said, r); len(said) == 1 {
			close(first)
		}
	})
	if err != nil {
		t.Error(err)
	}
	if len(said) == 0 {
		select { // do not wait for a receipt of a writer that printed none
		case <-first:
		default:
			close(first)
		}
	}
	if err := cmd.Wait(); err == nil {
		t.Error("the writer ended before it was killed")
	}
	return said
}

// reopens checks that the folder can be used again immediately.
func reopens(t *testing.T, dir string) {
	l, err := ledger.Open(dir, ledger.Options{})
	if err != nil {
		t.Error(err)
		return
	}
	if _, err := l.Append(t.Context(), ledger.Entry{Kind: ledger.KindSuccess}); err != nil {
		t.Error(err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}
