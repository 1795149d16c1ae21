package stdio

import "time"

// clock wakes a serverConn when the first of its calls is due. All calls share one timer, because a timer per call would cost
// more than reading the call. Its fields are guarded by the mutex of the serverConn.
type clock struct {
	timer *time.Timer
	at    time.Time // when it wakes, never later than the first call is due; zero if it is stopped
}

// watch ensures that p is ended when it is due. The lock must be held.
func (l *serverConn) watch(p *pending) {
	if p.limit <= 0 || !l.clock.at.IsZero() && !p.due.Before(l.clock.at) {
		return
	}
	l.clock.at = p.due
	if l.clock.timer == nil {
		l.clock.timer = time.AfterFunc(time.Until(p.due), l.wake)
		return
	}
	l.clock.timer.Reset(time.Until(p.due))
}

// wake ends the calls that are due, and schedules the next wake-up.
func (l *serverConn) wake() {
	for _, p := range l.overdue() {
		go func() { // each call is recorded without waiting for the others
			defer l.work.Done()
			l.expire(p)
		}()
	}
}

// overdue returns the calls that are due and adds each to l.work, so that the session does not end before they are answered.
func (l *serverConn) overdue() (due []*pending) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clock.at = time.Time{}
	if l.over != nil {
		return nil
	}
	now := time.Now()
	for _, p := range l.open {
		if p.limit > 0 && !p.due.After(now) {
			l.work.Add(1) // under the lock, so that the end of the connection either waits for it or has already happened
			due = append(due, p)
		} else {
			l.watch(p)
		}
	}
	return due
}
