package ledger_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/candor-mcp/candor/internal/testing/crashfs"
	"github.com/candor-mcp/candor/ledger"
)

var randomLives = flag.Int("lives", 100, "how many random lives TestUntouchedLedgersAlwaysVerify lives")

// life is a random workload, determined by its seed.
type life uint64

func (l life) String() string { return fmt.Sprintf("seed %d", uint64(l)) }

// TestUntouchedLedgersAlwaysVerify runs random workloads, ten thousand of them in .ci/run, with rotations, crashes,
// kills and restarts. The folders are not tampered with, so the verifier must not report any damage.
func TestUntouchedLedgersAlwaysVerify(t *testing.T) {
	relaxGC(t)
	lives := make([]life, *randomLives)
	if testing.Short() {
		lives = lives[:min(100, len(lives))]
	}
	for i := range lives {
		lives[i] = life(i + 1)
	}
	lived := inParallel(t, lives, func(t *testing.T, l life) (bool, error) { return true, l.live(t) })
	t.Logf("%d lives", lived)
}

func (l life) live(t *testing.T) error {
	rng := rand.New(rand.NewPCG(uint64(l), 3))
	w := workload{
		options: ledger.Options{
			MaxSegmentBytes: int64(ledger.MinSegmentBytes + rng.IntN(3)*4096),
			Compress:        rng.IntN(8) == 0,
		},
		second: rng.IntN(2) == 0,
		prunes: rng.IntN(6) == 0,
	}
	if w.prunes {
		w.options.RetainBytes, w.options.RetainAge = int64(1+rng.IntN(20_000)), time.Duration(rng.IntN(2))*time.Hour
	}
	var failed error
	w.play = func(s *stage) {
		for range 1 + rng.IntN(4) {
			s.chapter(rng)
			if failed = s.alarm(); failed != nil {
				return
			}
		}
	}
	s := perform(t, w, uint64(l), nil)
	if failed != nil {
		return failed
	}
	if len(s.refused) > 0 {
		return fmt.Errorf("refused: %v", s.refused)
	}
	left := survivor{disk: s.disk, second: s.second, options: w.options, prunes: w.prunes, acknowledged: s.acknowledged.all()}
	return left.check()
}

// chapter is one process, from its start to its end.
func (s *stage) chapter(rng *rand.Rand) {
	l := s.open()
	for range rng.IntN(4) {
		switch rng.IntN(5) {
		case 0:
			s.appendInTurn(l, 1+rng.IntN(4), 100)
		case 1:
			s.appendAtOnce(l, 2+rng.IntN(5), 1+rng.IntN(3), 1500)
		case 2:
			s.effects(l, 1+rng.IntN(3))
		case 3:
			s.pass(time.Duration(rng.IntN(90)) * time.Second)
		case 4:
			s.appendAtOnce(l, 2, 2, 6000)
		}
	}
	switch rng.IntN(3) {
	case 0:
		s.close(l)
	case 1:
		s.kill(l)
	case 2:
		s.cut(l, rng)
	}
}

// cut cuts the power during a write. The next chapter continues with the survivor, which must hold the receipts known
// at that moment.
func (s *stage) cut(l *ledger.Ledger, rng *rand.Rand) {
	s.killed = append(s.killed, l)
	var disk, second *crashfs.FS
	var received []ledger.Receipt
	wait := rng.IntN(8)
	take := func(_ int, _ crashfs.Op, cut func(*rand.Rand) *crashfs.FS) {
		if wait--; wait >= 0 || disk != nil {
			return
		}
		disk, received = cut(rng), s.acknowledged.all()
		if s.second != nil {
			second = s.second.Crash(rng)
		}
	}
	s.disk.After(take)
	s.appendAtOnce(l, 4, 2, 1500)
	s.disk.After(nil)
	if wait = 0; disk == nil { // the writes ended before the power cut
		take(0, crashfs.OpClose, s.disk.Crash)
	}
	s.disk, s.second, s.acknowledged = disk, second, &acknowledged{receipts: received}
}

// alarm returns an error if the verifier reports damage in a folder that was not tampered with.
func (s *stage) alarm() error {
	return survivor{disk: s.disk, second: s.second}.verify("between two chapters")
}
