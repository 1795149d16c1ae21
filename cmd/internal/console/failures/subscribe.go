package failures

import "sync"

// queued is the number of failures that wait for a subscriber before it is dropped: at 1,000 failures a second, one
// second.
const queued = 1024

// Subscription delivers new failures, see [Store.Subscribe].
type Subscription struct {
	C <-chan Failure // closed if the subscriber was dropped, and by Close

	hub    *hub
	send   chan Failure
	filter Filter
}

// Close ends the subscription.
func (s *Subscription) Close() { s.hub.end(s) }

// hub passes new failures on to subscribers.
type hub struct {
	mu     sync.Mutex
	subs   map[*Subscription]bool
	closed bool
}

func (h *hub) subscribe(f Filter) *Subscription { //nolint:gocritic // kept by the subscription
	send := make(chan Failure, queued)
	s := &Subscription{C: send, hub: h, send: send, filter: f}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		close(send)
		return s
	}
	if h.subs == nil {
		h.subs = map[*Subscription]bool{}
	}
	h.subs[s] = true
	return s
}

// listening reports whether there is a subscriber.
func (h *hub) listening() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.subs) > 0
}

// publish passes a failure on. It never waits: a subscriber whose queue is full is dropped.
func (h *hub) publish(f *Failure) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for s := range h.subs {
		if !s.filter.Selects(f) {
			continue
		}
		select {
		case s.send <- *f:
		default:
			h.remove(s)
		}
	}
}

func (h *hub) end(s *Subscription) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.remove(s)
}

// remove ends a subscription. The caller holds the lock.
func (h *hub) remove(s *Subscription) {
	if h.subs[s] {
		delete(h.subs, s)
		close(s.send)
	}
}

func (h *hub) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for s := range h.subs {
		h.remove(s)
	}
}
