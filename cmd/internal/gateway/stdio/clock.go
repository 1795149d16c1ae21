package stdio

import "time"

// clock wakes a link when the first of its calls is due. It is one for all of them: they come and go without touching it, because
// a timer for each would cost more than reading the call. All of it is guarded by the link's lock.
type clock struct {
	timer *time.Timer
	at    time.Time // when it wakes, which is never after an open call is due; zero if it does not
}

// watch sees to it that p is ended when it is due. It is called with the lock held.
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

// wake ends the calls that are due, and waits for the next.
func (l *serverConn) wake() {
	for _, p := range l.overdue() {
		go func() { // each is recorded, and none waits for the others
			defer l.work.Done()
			l.expire(p)
		}()
	}
}

// overdue counts what it returns as work: no call may be open any more, but the session must not end before it is answered.
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
			l.work.Add(1) // under the lock, so that the end waits for it or has come before
			due = append(due, p)
		} else {
			l.watch(p)
		}
	}
	return due
}
