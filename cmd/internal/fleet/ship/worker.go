package ship

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/internal/filelock"
	"github.com/candor-mcp/candor/internal/segment/format"
	"github.com/candor-mcp/candor/ledger"
)

const (
	maxLines = 256
	maxBytes = 1 << 20
	// linger is how long a batch that is not full waits for more lines in mode local, where no caller waits for it.
	linger = 5 * time.Millisecond
)

// problem is an error after which a chain is not shipped any more.
type problem struct {
	seq  uint64
	text string
}

// Error returns the reason.
func (p *problem) Error() string { return p.text }

// errAgain means that the head of the store has changed in a way that needs another look at the chain from there on.
var errAgain = errors.New("the chain in the store has changed")

// run ships a chain until it is complete, has a problem, or the Shipper ends.
func (s *Shipper) run(c *chain) {
	defer func() {
		s.mu.Lock()
		c.running = false
		c.notify()
		s.mu.Unlock()
	}()
	release, ok := s.claim(c)
	if !ok {
		return
	}
	defer release()
	pause := s.config.backoff
	for s.ctx.Err() == nil {
		before := s.ackedOf(c)
		err := s.follow(c)
		var p *problem
		switch {
		case err == nil || s.ctx.Err() != nil:
			return
		case errors.As(err, &p):
			s.giveUp(c, p)
			return
		}
		if s.ackedOf(c) > before {
			pause = s.config.backoff
		}
		if !errors.Is(err, errAgain) {
			s.failed(err)
		}
		s.sleep(jitter(pause))
		pause = min(2*pause, s.maxPause())
	}
}

// maxPause is shorter if callers wait for the store.
func (s *Shipper) maxPause() time.Duration {
	if s.config.At.Mode == fleet.ModeLocal {
		return maxPause
	}
	return maxPause / 10
}

// jitter spreads the attempts of many nodes.
func jitter(d time.Duration) time.Duration {
	return d/2 + rand.N(d) //nolint:gosec // not a secret
}

// sleep waits, or returns early when the Shipper ends.
func (s *Shipper) sleep(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-s.ctx.Done():
	}
}

// claim locks a chain, so that it is shipped once. The process that writes a chain ships it even if it cannot lock it: its callers may wait.
func (s *Shipper) claim(c *chain) (release func(), ok bool) {
	s.mu.Lock()
	own, limited := c.own, c.ended
	s.mu.Unlock()
	leave := func() {}
	if limited {
		select {
		case s.slots <- struct{}{}:
			leave = func() { <-s.slots }
		case <-s.ctx.Done():
			return nil, false
		}
	}
	lock, err := filelock.Open(s.root, c.name+"/"+format.ShippingLock)
	if err == nil {
		return func() {
			_ = lock.Close() // nothing was written
			leave()
		}, true
	}
	if own {
		return leave, true
	}
	leave()
	return nil, false
}

func (s *Shipper) ackedOf(c *chain) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return c.acked
}

// giveUp stops shipping a chain, logs the problem, and records it.
func (s *Shipper) giveUp(c *chain, p *problem) {
	s.mu.Lock()
	c.problem, c.badSeq = p.text, p.seq
	c.notify()
	s.mu.Unlock()
	s.config.Log.Error("a chain is not shipped any more", slog.String("chain", c.name), slog.Uint64("entry", p.seq), slog.String("problem", p.text),
		slog.String("store", s.config.At.String()))
	s.recordProblems()
}

// recordProblems records the problems that are not recorded yet, if there is a ledger for it.
func (s *Shipper) recordProblems() {
	s.mu.Lock()
	record := s.record
	var entries []ledger.Entry
	for _, c := range s.chains {
		if record != nil && c.problem != "" && !c.recorded {
			c.recorded = true
			data := candor.DetailsOf(map[string]any{"shipping": map[string]any{"chain": c.name, "seq": c.badSeq, "problem": c.problem}})
			entries = append(entries, ledger.Entry{Kind: ledger.KindSetting, Data: data})
		}
	}
	s.mu.Unlock()
	ctx, cancel := context.WithTimeout(s.ctx, operation)
	defer cancel()
	for _, e := range entries {
		if _, err := record(ctx, e); err != nil {
			s.config.Log.Warn("a problem of shipping could not be recorded", slog.Any("error", cause(err)))
		}
	}
}

// follow reads the head of the store and ships the entries after it. It returns nil when the chain has ended and the store has all of it.
func (s *Shipper) follow(c *chain) error {
	ctx, cancel := context.WithTimeout(s.ctx, operation)
	defer cancel()
	store, err := s.open(ctx)
	if err != nil {
		return err
	}
	b := &batch{store: store, chain: fleet.Chain{Node: s.config.At.Node, Name: c.name}}
	if b.after, err = s.head(b); err != nil {
		return err
	}
	if err := s.compare(c, b.after); err != nil {
		return err
	}
	durable, ended := s.limit(c)
	if ended && b.after.Seq == durable && durable == 0 {
		return nil
	}
	return s.pump(c, b, ended)
}

// head asks the store for the head of the chain.
func (s *Shipper) head(b *batch) (fleet.Head, error) {
	ctx, cancel := context.WithTimeout(s.ctx, operation)
	defer cancel()
	head, err := b.store.Head(ctx, b.chain)
	if err != nil {
		return head, s.judge(err)
	}
	s.worked()
	return head, nil
}

// judge returns a problem for an error that no later attempt can avoid.
func (s *Shipper) judge(err error) error {
	switch candor.CodeOf(err).Class() {
	case candor.ClassCorrupt, candor.ClassBadRequest, candor.ClassTooLarge:
		return &problem{text: fleet.Reason(err)}
	default:
		return err
	}
}

// compare finds out whether the store has less than it had acknowledged, or more than there is. It never takes an entry as acknowledged that
// was not before: whether the store has the same entry, and not only one with the same number, is known when its line was read.
func (s *Shipper) compare(c *chain, head fleet.Head) error {
	noted := s.readCursor(c.name)
	s.mu.Lock()
	defer s.mu.Unlock()
	if had := max(noted.Seq, c.acked); had > head.Seq {
		s.lost += had - head.Seq
		s.config.Log.Error("the store lost entries it had acknowledged; they are shipped again", slog.String("chain", c.name),
			slog.Uint64("acknowledged", had), slog.Uint64("last", head.Seq), slog.String("store", s.config.At.String()))
		c.acknowledge(head.Seq, hex.EncodeToString(head.Hash[:]), -1)
		c.noted = had // so that the file is written again
	}
	if head.Seq > c.durable && (c.own || c.ended) {
		return &problem{c.durable, fmt.Sprintf("the store has %d entries of it and this folder only %d: the folder was set back to an earlier state, or replaced", head.Seq, c.durable)}
	}
	if head.Seq == 0 {
		c.checked = true
		c.notify()
	}
	return nil
}

// match notes that the last entry in the store is the one in this folder.
func (s *Shipper) match(c *chain, head fleet.Head) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.checked = true
	if head.Seq > c.acked {
		c.acknowledge(head.Seq, hex.EncodeToString(head.Hash[:]), -1)
		return
	}
	c.notify()
}

// disown notes that the store has entries of another writer. Where they begin is unknown, so retention has to keep the whole chain.
func (s *Shipper) disown(c *chain) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.noted = max(c.noted, c.acked, 1) // so that the file is written again
	c.acknowledge(0, hex.EncodeToString(make([]byte, sha256.Size)), -1)
}

// limit returns the last entry that may be shipped, and whether the chain has ended.
func (s *Shipper) limit(c *chain) (durable uint64, ended bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return c.durable, c.ended
}

// pump reads the chain from the head of the store on and sends it in batches. When a chain that it follows has ended, it returns errAgain.
func (s *Shipper) pump(c *chain, b *batch, ended bool) error {
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	if !s.interruptible(c, cancel, ended) {
		return errAgain
	}
	damaged := false
	options := ledger.ReadOptions{
		Chain: c.name, From: max(b.after.Seq, 1), Follow: !ended, Poll: s.config.poll, Wake: c.wake,
		Skipped: func(string, int64) { damaged = true; cancel() },
	}
	reader := ledger.NewReader(settled{s.root.FS(), func() (uint64, bool) { return s.limit(c) }})
	for line, err := range reader.Entries(ctx, options) {
		if err != nil {
			return fmt.Errorf("reading the ledger: %w", err)
		}
		if damaged {
			break
		}
		if err := s.take(c, b, line); err != nil {
			return err
		}
		if done, err := s.complete(c, b); done || err != nil {
			return err
		}
	}
	if s.ctx.Err() != nil {
		return nil
	}
	if err := s.flush(c, b); err != nil {
		return err
	}
	if ctx.Err() != nil && !damaged {
		return errAgain
	}
	durable, _ := s.limit(c)
	if !damaged && b.after.Seq == 0 && s.gone(c, durable) {
		return nil
	}
	if damaged || b.after.Seq < durable {
		return &problem{b.after.Seq + 1, fmt.Sprintf("entry %d in this folder is damaged or missing (hint: candor ledger verify)", b.after.Seq+1)}
	}
	s.match(c, b.after) // retention may have removed the last entry that the store has
	return nil
}

// gone reports whether retention had removed all of an ended chain before it was shipped. Then there is nothing to ship, and nothing is noted
// in the folder: the store does not have it.
func (s *Shipper) gone(c *chain, durable uint64) bool {
	if s.size(c.name) > 0 {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !c.ended {
		return false
	}
	c.acknowledge(durable, "", -1)
	return true
}

// interruptible lets the end of a chain interrupt the reader that follows it. It returns false if the chain has ended meanwhile.
func (s *Shipper) interruptible(c *chain, cancel func(), ended bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.interrupt = cancel
	return c.ended == ended
}

// complete reports whether all of an ended chain is shipped.
func (s *Shipper) complete(c *chain, b *batch) (bool, error) {
	durable, ended := s.limit(c)
	if !ended || b.last().Seq < durable {
		return false, nil
	}
	return true, s.flush(c, b)
}

// take checks that a line follows the batch, adds it when it is durable, and sends the batch when it is full or no line is left.
func (s *Shipper) take(c *chain, b *batch, line *ledger.Line) error {
	head := b.last()
	switch {
	case line.Seq == head.Seq: // the last line that the store has
		if line.Hash != head.Hash {
			s.disown(c)
			return &problem{line.Seq, fmt.Sprintf("entry %d in the store is another one than in this folder: two writers have used the name of this node, or the folder was set back", line.Seq)}
		}
		s.match(c, head)
		return nil
	case head.Seq > 0 && line.Seq > head.Seq+1 && len(b.lines) == 0:
		return &problem{head.Seq + 1, fmt.Sprintf("entries %d to %d are not in this folder any more, and the store does not have them", head.Seq+1, line.Seq-1)}
	case head.Seq > 0 && (line.Seq != head.Seq+1 || line.Prev != head.Hash):
		if len(b.lines) == 0 {
			s.disown(c)
		}
		return &problem{line.Seq, fmt.Sprintf("entry %d in this folder does not follow entry %d (hint: candor ledger verify)", line.Seq, head.Seq)}
	}
	if err := s.await(c, b, line.Seq); err != nil {
		return err
	}
	if len(b.lines) == 0 {
		s.mu.Lock()
		c.behind = line.Time
		s.mu.Unlock()
	}
	b.add(line)
	if b.full() {
		return s.flush(c, b)
	}
	if durable, _ := s.limit(c); line.Seq < durable {
		return nil
	}
	if s.config.At.Mode == fleet.ModeLocal {
		s.sleep(linger)
		if durable, _ := s.limit(c); line.Seq < durable {
			return nil
		}
	}
	return s.flush(c, b)
}

// await sends the batch and waits until an entry is durable.
func (s *Shipper) await(c *chain, b *batch, seq uint64) error {
	for {
		s.mu.Lock()
		ready, ended, changed := c.durable >= seq, c.ended, c.changed
		s.mu.Unlock()
		if ready {
			return nil
		}
		if ended { // the bytes after the end of a chain are undefined
			if err := s.flush(c, b); err != nil {
				return err
			}
			return errAgain
		}
		if err := s.flush(c, b); err != nil {
			return err
		}
		select {
		case <-changed:
		case <-s.ctx.Done():
			return s.ctx.Err()
		}
	}
}

// flush sends the batch until the store has all of it. After an error it asks the store for the head, because the lines may have been
// stored nevertheless.
func (s *Shipper) flush(c *chain, b *batch) error {
	pause := s.config.backoff
	for len(b.lines) > 0 {
		err := s.send(c, b)
		if err == nil {
			return nil
		}
		if err = s.judge(err); s.ctx.Err() != nil || errors.As(err, new(*problem)) {
			return err
		}
		var head fleet.Head
		if conflict := (*fleet.ConflictError)(nil); errors.As(err, &conflict) {
			head = conflict.Head
		} else {
			s.failed(err)
			s.sleep(jitter(pause))
			pause = min(2*pause, s.maxPause())
			if head, err = s.head(b); err != nil {
				if errors.As(err, new(*problem)) {
					return err
				}
				continue
			}
		}
		before := b.after
		bytes, ok := b.drop(head)
		if !ok {
			return errAgain
		}
		if head != before {
			s.acknowledge(c, head, bytes, 0)
		}
	}
	return nil
}

// send appends the batch to the store once.
func (s *Shipper) send(c *chain, b *batch) error {
	ctx, cancel := context.WithTimeout(s.ctx, operation)
	defer cancel()
	if err := b.store.Append(ctx, b.chain, b.after, b.lines); err != nil {
		return err
	}
	last, bytes, n := b.last(), b.bytes, len(b.lines)
	b.after, b.bytes = last, 0
	clear(b.lines)
	b.lines, b.heads = b.lines[:0], b.heads[:0]
	s.worked()
	s.acknowledge(c, last, bytes, n)
	return nil
}

// acknowledge notes that the store has the entries up to head.
func (s *Shipper) acknowledge(c *chain, head fleet.Head, bytes, lines int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shipped += uint64(lines) //nolint:gosec // not negative
	c.acknowledge(head.Seq, hex.EncodeToString(head.Hash[:]), int64(bytes))
}
