package ledger

import (
	"sync"
	"time"
)

// upkeepEvery is how often old segments are looked at when nothing else gives a reason.
const upkeepEvery = time.Hour

// upkeep compresses and removes closed segments, on a goroutine of its own.
type upkeep struct {
	ledger *Ledger
	wake   chan struct{}
	quit   chan struct{}
	done   sync.WaitGroup
}

func newUpkeep(l *Ledger) *upkeep {
	return &upkeep{ledger: l, wake: make(chan struct{}, 1), quit: make(chan struct{})}
}

// start begins with what earlier processes have left.
func (u *upkeep) start() {
	o := &u.ledger.options
	if !o.Compress && o.Retain == (Retain{}) {
		return
	}
	u.ring()
	u.done.Go(u.run)
}

func (u *upkeep) run() {
	tick := time.NewTicker(upkeepEvery)
	defer tick.Stop()
	for {
		select {
		case <-u.quit:
			return
		case <-tick.C:
		case <-u.wake:
		}
		if err := u.work(); err != nil {
			u.ledger.warner.warn(WarningUpkeep, "looking after old segments failed", err)
		}
	}
}

// ring asks for a round.
func (u *upkeep) ring() {
	select {
	case u.wake <- struct{}{}:
	default:
	}
}

// stop ends the goroutine and waits for it. A file being compressed is left; the next round begins it anew.
func (u *upkeep) stop() {
	close(u.quit)
	u.done.Wait()
}

func (u *upkeep) stopping() bool {
	select {
	case <-u.quit:
		return true
	default:
		return false
	}
}
