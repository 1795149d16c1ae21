package ledger

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/candor-mcp/candor/ledger/internal/format"
	"github.com/candor-mcp/candor/ledger/internal/segment"
	"github.com/candor-mcp/candor/ledger/internal/storage"
)

// heldChain is a chain whose closed segments this process may compress and remove: its own, or one that has ended.
type heldChain struct {
	name   string
	end    endNote // valid if ended
	ended  bool
	files  []heldFile // oldest first
	remove int        // how many of files to remove
}

// heldFile is a segment that is no longer written.
type heldFile struct {
	name     string
	number   int
	bytes    int64
	modified time.Time
}

// pruned is the record of removed segments in an entry.
type pruned struct {
	Chain   string `json:"chain"`
	Segment int    `json:"segment"` // the newest removed segment; all before it are removed too
	Size    uint64 `json:"size"`    // seq of its last entry
	Last    string `json:"last"`    // hash of its last entry
}

// work does one round: it removes segments that exceed the limits, then compresses the others.
func (u *upkeep) work() error {
	own := *u.ledger.writing.Load() // if the writer gives this chain up meanwhile, it still holds the chain's lock
	err := u.underLock(func() error { return u.retain(own) })
	if u.ledger.options.Compress {
		err = errors.Join(err, u.compress(own))
	}
	if errors.Is(err, errStopped) {
		return nil
	}
	return err
}

// underLock runs f while no other process begins a chain or removes segments. If the folder is locked, it does
// nothing; the next round tries again.
func (u *upkeep) underLock(f func() error) error {
	if u.ledger.options.keepsAll() || u.stopping() {
		return nil
	}
	unlock, err := u.ledger.options.storage.Lock(folderLock, newLockNote("candor", time.Now()))
	if errors.Is(err, storage.ErrLocked) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(f(), unlock())
}

// held lists the chains whose segments this process may compress and remove.
func (u *upkeep) held(own string) ([]*heldChain, error) {
	s := u.ledger.options.storage
	names, err := segment.Chains(s.Files())
	if err != nil {
		return nil, err
	}
	var all []*heldChain
	for _, name := range names {
		c := &heldChain{name: name}
		c.end, c.ended = readEnd(s, name)
		if name != own && !c.ended {
			continue // another process writes it, or it has not been recovered yet
		}
		closed, active, err := listSegments(s, name)
		if err != nil {
			return nil, err
		}
		if c.ended && active {
			closed = append(closed, segment.File{Number: segment.LastNumber(closed) + 1, Name: name + "/" + format.ActiveSegment})
		}
		for _, f := range closed {
			if info, err := fs.Stat(s.Files(), f.Name); err == nil {
				c.files = append(c.files, heldFile{f.Name, f.Number, info.Size(), info.ModTime()})
			}
		}
		all = append(all, c)
	}
	return all, nil
}

// retain removes segments that exceed the limits. Each removal is recorded before it happens.
func (u *upkeep) retain(own string) error {
	all, err := u.held(own)
	if err != nil {
		return err
	}
	choose(all, &u.ledger.options)
	for _, c := range all {
		if c.remove == 0 || u.stopping() {
			continue
		}
		if err := u.prune(c, all); err != nil {
			return fmt.Errorf("removing segments of %s: %w", c.name, err)
		}
	}
	return nil
}

// choose marks the segments to remove: the oldest first, over all chains, until the others are within the limits.
func choose(all []*heldChain, o *Options) {
	now := o.Clock()
	var total int64
	for _, c := range all {
		for _, f := range c.files {
			total += f.bytes
		}
	}
	for {
		var oldest *heldChain
		for _, c := range all {
			if c.remove < len(c.files) && (oldest == nil || c.next().modified.Before(oldest.next().modified)) {
				oldest = c
			}
		}
		if oldest == nil {
			return
		}
		old := o.RetainAge > 0 && now.Sub(oldest.next().modified) > o.RetainAge
		much := o.RetainBytes > 0 && total > o.RetainBytes
		if !old && !much {
			return
		}
		total -= oldest.next().bytes
		oldest.remove++
	}
}

// next returns the oldest file that is not marked yet.
func (c *heldChain) next() heldFile { return c.files[c.remove] }

// prune records that the marked segments of a chain are removed, then removes them, oldest first. A crash in between
// leaves segments that are recorded as removed, which is not damage; the next round removes them.
func (u *upkeep) prune(c *heldChain, all []*heldChain) error {
	s := u.ledger.options.storage
	last, err := c.lastRemoved(s)
	if err != nil {
		return err
	}
	gone, err := c.carried(s)
	if err != nil {
		return err
	}
	var orphans []*heldChain
	var named []namedChain
	for _, o := range all {
		if o.ended && o.end.Named == c.name {
			orphans = append(orphans, o)
			named = append(named, namedChain{Chain: o.name, Size: o.end.Size, Last: o.end.Last})
		}
	}
	receipt, err := u.ledger.recordPruned(replacePruning(gone, last), named)
	if err != nil || receipt.Unrecorded {
		return err
	}
	if !u.signed(receipt) {
		return nil // the segments are kept for the next round
	}
	for _, o := range orphans {
		o.end.Named = receipt.Chain
		err = errors.Join(err, writeEnd(s, o.name, o.end))
	}
	for _, f := range c.files[:c.remove] {
		// A crash during compression leaves both forms. The compressed one is removed first, so that a crash here
		// leaves the form that was listed.
		err = errors.Join(err, storage.Remove(s, f.name+format.GzipSuffix), storage.Remove(s, f.name))
	}
	return errors.Join(err, s.SyncDir(c.name))
}

// lastRemoved describes the newest segment to remove. The number and hash of its last entry are in the first line of
// the next segment, or in the chain's end note.
func (c *heldChain) lastRemoved(s storage.Storage) (pruned, error) {
	p := pruned{Chain: c.name, Segment: c.files[c.remove-1].number}
	next := c.name + "/" + format.ActiveSegment
	switch {
	case c.remove < len(c.files):
		next = c.files[c.remove].name
	case c.ended:
		p.Size, p.Last = c.end.Size, c.end.Last
		return p, nil
	}
	lines, err := newLineScanner(s, next)
	if err == nil {
		defer lines.close()
		err = lines.scan()
	}
	if err != nil {
		return p, fmt.Errorf("reading %s: %w", next, err)
	}
	l, err := ParseLine(lines.line)
	if err != nil {
		return p, format.LineError(next, l.Seq, err)
	}
	p.Size, p.Last = l.Seq-1, format.Digest(l.Prev).String()
	return p, nil
}

// compress compresses the closed segments of all held chains. It locks each chain that has ended meanwhile, so that
// two processes do not compress the same segment.
func (u *upkeep) compress(own string) error {
	s := u.ledger.options.storage
	all, err := u.held(own)
	if err != nil {
		return err
	}
	for _, c := range all {
		unlock := func() error { return nil }
		if c.name != own {
			if unlock, err = s.Lock(c.name+"/"+chainLock, nil); err != nil {
				continue
			}
		}
		if err := errors.Join(u.compressChain(c.name), unlock()); err != nil {
			return err
		}
	}
	return nil
}

func (u *upkeep) compressChain(name string) error {
	s := u.ledger.options.storage
	closed, err := segment.List(s.Files(), name)
	for _, f := range closed {
		if err == nil && !f.Packed {
			err = compressSegment(s, name, f.Name, u.stopping)
		}
	}
	return err
}

// signed waits until a durable checkpoint covers an entry, which takes up to checkpointWithin: a verifier accepts
// only signed records of removed segments. It gives up after twice that time, and when the ledger is being closed.
func (u *upkeep) signed(receipt Receipt) bool {
	tick := time.NewTicker(checkpointWithin / 50)
	defer tick.Stop()
	for end := time.Now().Add(2 * checkpointWithin); time.Now().Before(end); {
		if at := u.ledger.durableNote.Load(); at != nil && at.chain == receipt.Chain && at.size >= receipt.Seq {
			return true
		}
		select {
		case <-u.quit:
			return false
		case <-tick.C:
		}
	}
	return false
}

// carried returns the records of earlier removals in the marked segments. They must be recorded again: for a chain
// that was removed completely they are the only proof that retention removed it.
func (c *heldChain) carried(s storage.Storage) ([]pruned, error) {
	var all []pruned
	for _, f := range c.files[:c.remove] {
		lines, err := newLineScanner(s, f.name)
		if err == nil {
			for err = lines.scan(); err == nil || errors.Is(err, format.ErrShape); err = lines.scan() {
				all = addPrunings(all, lines.line)
			}
			lines.close()
		}
		if !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("reading %s: %w", f.name, err)
		}
	}
	return all, nil
}

// addPrunings adds the removals that a line records, if any. For each chain only the newest record is kept.
func addPrunings(all []pruned, line []byte) []pruned {
	if !bytes.Contains(line, []byte(`"pruned":`)) {
		return all
	}
	if l, err := ParseLine(line); err != nil || l.Kind != KindSetting {
		return all
	}
	var said struct {
		Data struct {
			Pruned []pruned `json:"pruned"`
		} `json:"data"`
	}
	if json.Unmarshal(line, &said) != nil {
		return all
	}
	for _, p := range said.Data.Pruned {
		all = replacePruning(all, p)
	}
	return all
}

func replacePruning(all []pruned, p pruned) []pruned {
	for i := range all {
		if all[i].Chain == p.Chain {
			if p.Size > all[i].Size {
				all[i] = p
			}
			return all
		}
	}
	return append(all, p)
}

// recordPruned durably records the removed segments and the chains whose only mention is removed with them. It splits
// long lists into several entries.
func (l *Ledger) recordPruned(gone []pruned, orphans []namedChain) (Receipt, error) {
	const most = 1000
	for {
		part, orphaned := min(len(gone), most), min(len(orphans), most)
		data := struct {
			Pruned []pruned     `json:"pruned,omitempty"`
			Before []namedChain `json:"before,omitempty"`
		}{gone[:part], orphans[:orphaned]}
		gone, orphans = gone[part:], orphans[orphaned:]
		receipt, err := l.Append(context.Background(), Entry{Kind: KindSetting, raw: format.MustJSON(data)})
		if err != nil || receipt.Unrecorded || len(gone)+len(orphans) == 0 {
			return receipt, err
		}
	}
}
