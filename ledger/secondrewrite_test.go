package ledger

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// openSmall opens a ledger whose second place is rewritten at a few kilobytes.
func openSmall(t *testing.T, dir, place string, clock *testClock) *Ledger {
	t.Helper()
	l := mustOpen(t, dir, Options{Clock: clock.now, SecondPlace: place, OwnSecondPlace: true})
	l.writer.turn <- struct{}{}
	l.writer.second.limit = 2 << 10
	l.writer.pass()
	return l
}

// TestOwnSecondPlaceStaysSmall writes many checkpoints beside another writer and a verifier. The file holds the newest of each chain, and
// still shows what is cut off.
func TestOwnSecondPlaceStaysSmall(t *testing.T) {
	t.Parallel()
	dir, place, clock := t.TempDir(), filepath.Join(t.TempDir(), "checkpoints"), newTestClock()
	const each = 60
	var writers sync.WaitGroup
	for range 2 {
		l := openSmall(t, dir, place, clock)
		writers.Go(func() {
			for i := range each {
				clock.move(2 * time.Second)
				appendSome(t, l, i, 1)
				l.writer.turn <- struct{}{} // as when it has nothing else to do
				l.writer.settle()
				l.writer.second.limit = min(l.writer.second.limit, 4<<10)
				l.writer.pass()
			}
			mustClose(t, l)
		})
	}
	for range 20 {
		report, err := Verify(dir, VerifyOptions{SecondPlaces: []string{place}})
		if err != nil {
			t.Fatal(err)
		}
		wantOK(t, report)
	}
	writers.Wait()
	info, err := os.Stat(place)
	if err != nil || info.Size() > 16<<10 {
		t.Errorf("%d checkpoints take %d bytes, %v", 2*each, info.Size(), err)
	}
	report := verifyDir(t, dir, place)
	wantOK(t, report)
	for _, c := range report.Chains {
		if c.Second < 2*each {
			t.Errorf("the second place covers %d of %d entries of %s", c.Second, c.Size, c.Chain)
		}
	}
	chain := chainsOf(t, dir)[0]
	lines := strings.SplitAfter(string(fileOf(t, dir, chain, activeSegment)), "\n")
	for name, data := range map[string]string{activeSegment: strings.Join(lines[:each], ""), notesFile: ""} {
		if err := os.WriteFile(filepath.Join(dir, chain, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	wantHarm(t, verifyDir(t, dir, place), HarmTruncated, chain, each+1)
}

// TestSharedSecondPlaceIsOnlyAppendedTo: others may keep their checkpoints in it, or hold it against writing over.
func TestSharedSecondPlaceIsOnlyAppendedTo(t *testing.T) {
	t.Parallel()
	dir, place, clock := t.TempDir(), filepath.Join(t.TempDir(), "checkpoints"), newTestClock()
	l := mustOpen(t, dir, Options{Clock: clock.now, SecondPlace: place})
	if limit := l.writer.second.limit; limit != 0 {
		t.Errorf("it is rewritten at %d bytes", limit)
	}
	mustClose(t, l)
}
