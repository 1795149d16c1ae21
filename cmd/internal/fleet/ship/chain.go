package ship

import "time"

// chain is the state of one chain. Its fields are guarded by the mutex of the Shipper.
type chain struct {
	name    string
	own     bool // this process writes it
	running bool // a goroutine ships it
	ended   bool // it gets no more entries
	checked bool // the last entry in the store was compared with the one here

	durable    uint64 // last entry that may be shipped
	acked      uint64 // last entry that the store has, as far as this process knows
	written    int64  // bytes up to durable
	ackedBytes int64  // bytes up to acked
	behind     time.Time
	problem    string // why it is not shipped any more
	badSeq     uint64 // the entry with the problem
	recorded   bool   // the problem is recorded

	hash    string        // of entry acked
	noted   uint64        // acked as written to the file
	changed chan struct{} // closed at each change, and replaced
	wake    chan struct{} // for the reader

	interrupt func() // ends the reader that follows the chain
}

func newChain(name string) *chain {
	return &chain{name: name, changed: make(chan struct{}), wake: make(chan struct{}, 1)}
}

// waits reports whether entries wait for the store. Those of a chain with a problem do not: they are never shipped.
func (c *chain) waits() bool { return c.acked < c.durable && c.problem == "" }

// waiting returns the bytes that wait for the store.
func (c *chain) waiting() int64 {
	if !c.waits() {
		return 0
	}
	return max(c.written-c.ackedBytes, 0)
}

// notify wakes all that wait for a change of the chain.
func (c *chain) notify() {
	close(c.changed)
	c.changed = make(chan struct{})
}

// wakeUp makes the goroutine that reads the chain look for more lines.
func (c *chain) wakeUp() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// extend notes that entries are durable.
func (c *chain) extend(durable uint64, ended bool) {
	if durable <= c.durable && ended == c.ended {
		return
	}
	if c.acked >= c.durable {
		c.behind = time.Now()
	}
	if ended && !c.ended && c.interrupt != nil {
		c.interrupt()
	}
	c.durable, c.ended = max(c.durable, durable), ended
	c.notify()
}

// acknowledge notes that the store has the entries up to seq. bytes is the size of those since the last call, or -1 if it is unknown.
func (c *chain) acknowledge(seq uint64, hash string, bytes int64) {
	switch {
	case seq >= c.durable:
		c.ackedBytes = c.written
	case bytes < 0:
		c.ackedBytes = int64(float64(c.written) * float64(seq) / float64(c.durable))
	default:
		c.ackedBytes += bytes
	}
	c.acked, c.hash = seq, hash
	c.notify()
}
