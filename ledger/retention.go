package ledger

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"time"

	"github.com/candor-mcp/candor/internal/segment"
	"github.com/candor-mcp/candor/internal/segment/format"
	"github.com/candor-mcp/candor/internal/storage"
)

// heldChain is a chain whose closed segments this process may remove.
type heldChain struct {
	name   string
	end    endNote    // valid if ended
	ended  bool       // false for a chain that is being written, here or by another process
	files  []heldFile // oldest first
	limit  int        // how many of files may be removed
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
	err := u.underLock(func() error {
		_, err := u.ledger.retain(&u.ledger.options)
		return err
	})
	if u.ledger.options.Compress {
		err = errors.Join(err, u.compress(own))
	}
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// underLock runs f while no other process begins a chain or removes segments. If the folder is locked, it does
// nothing; the next round tries again.
func (u *upkeep) underLock(f func() error) error {
	if u.ledger.options.keepsAll() {
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

// listHeld lists the chains with the segments that may be removed: the closed ones, and the last one of a chain that
// has ended. ended reports how a chain ended, or false if it may still be written. A chain that cannot be read is
// listed without segments, and the error names it.
func listHeld(s storage.Storage, ended func(chain string) (endNote, bool)) (all []*heldChain, failed error) {
	names, err := segment.Chains(s.Files())
	if err != nil {
		return nil, err
	}
	shipped := isShipped(s)
	for _, name := range names {
		c := &heldChain{name: name}
		c.end, c.ended = ended(name)
		if err := c.list(s); err != nil {
			failed = errors.Join(failed, fmt.Errorf("listing segments of %s: %w", name, err))
		}
		if shipped {
			c.keepUnshipped(s)
		}
		all = append(all, c)
	}
	return all, failed
}

// list lists the segments. If one of them cannot be examined it lists none: segments are removed oldest first, so
// none may be left out.
func (c *heldChain) list(s storage.Storage) error {
	names, err := fs.ReadDir(s.Files(), c.name)
	if err != nil {
		return err
	}
	closed := segment.Among(names, c.name)
	if c.ended && slices.ContainsFunc(names, func(f fs.DirEntry) bool { return f.Name() == format.ActiveSegment }) {
		closed = append(closed, segment.File{Number: segment.LastNumber(closed) + 1, Name: c.name + "/" + format.ActiveSegment})
	}
	files := make([]heldFile, 0, len(closed))
	for _, f := range closed {
		info, err := fs.Stat(s.Files(), f.Name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil // another process has compressed or removed it
		}
		if err != nil {
			return err
		}
		files = append(files, heldFile{f.Name, f.Number, info.Size(), lastWrite(s, c.name, f.Name, info)})
	}
	c.files, c.limit = files, len(files)
	return nil
}

// lastWrite returns the time of the last write to a segment. Recovery truncates the last segment of a chain, which
// changes the time of that file but not the time of the chain's checkpoints.
func lastWrite(s storage.Storage, chain, file string, info fs.FileInfo) time.Time {
	at := info.ModTime()
	if path.Base(file) == format.ActiveSegment {
		if notes, err := fs.Stat(s.Files(), chain+"/"+format.CheckpointsFile); err == nil && notes.ModTime().Before(at) {
			return notes.ModTime()
		}
	}
	return at
}

// retain removes segments that exceed the limits. One signed entry records all removals before the first one happens,
// so that the folder's lock is held for a short time however many chains there are. A crash in between leaves segments
// that are recorded as removed, which is not damage; the next round removes them. The caller holds the folder's lock.
func (l *Ledger) retain(limits *Options) ([]*heldChain, error) {
	s := l.options.storage
	all, failed := listHeld(s, func(chain string) (endNote, bool) { return readEnd(s.Files(), chain) })
	choose(all, limits)
	var gone []pruned
	var orphans []*heldChain
	for _, c := range all {
		records, err := c.records(s)
		if err != nil {
			c.remove = 0 // it is kept, and the others are not kept because of it
			failed = errors.Join(failed, fmt.Errorf("removing segments of %s: %w", c.name, err))
		}
		if c.remove == 0 {
			continue
		}
		for _, p := range records {
			gone = replacePruning(gone, p)
		}
		for _, o := range all {
			if o.ended && o.end.Named == c.name {
				orphans = append(orphans, o)
			}
		}
	}
	if len(gone) == 0 {
		return nil, failed
	}
	receipt, err := l.recordPruned(gone, orphans)
	if err != nil || !l.signed(receipt) {
		return nil, errors.Join(failed, err) // the segments are kept for the next round
	}
	for _, o := range orphans {
		o.end.Named = receipt.Chain
		failed = errors.Join(failed, writeEnd(s, o.name, o.end))
	}
	for _, c := range all {
		failed = errors.Join(failed, c.removeFiles(s))
	}
	return all, failed
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
			if c.remove < c.limit && (oldest == nil || c.next().modified.Before(oldest.next().modified)) {
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

// records returns what must be recorded before the marked segments are removed: the removal, and the records in these
// segments. A chain that another process writes may change meanwhile; it then keeps all segments until the next round.
func (c *heldChain) records(s storage.Storage) ([]pruned, error) {
	if c.remove == 0 {
		return nil, nil
	}
	last, err := c.lastRemoved(s)
	if err != nil {
		return nil, err
	}
	gone, err := c.carried(s)
	if errors.Is(err, fs.ErrNotExist) && !c.ended {
		c.remove = 0 // its writer has compressed the segment
		return nil, nil
	}
	return append(gone, last), err
}

// removeFiles removes the marked segments, oldest first, up to the first that cannot be removed. It leaves the others
// to the next round and lowers c.remove to the number of segments that were removed.
func (c *heldChain) removeFiles(s storage.Storage) error {
	if c.remove == 0 {
		return nil
	}
	marked := c.files[:c.remove]
	c.remove = 0
	for _, f := range marked {
		// A crash during compression leaves both forms. The compressed one is removed first, so that a crash here
		// leaves the form that was listed.
		err := storage.Remove(s, f.name+format.GzipSuffix)
		if err == nil {
			err = storage.Remove(s, f.name)
		}
		if err != nil {
			return errors.Join(fmt.Errorf("removing %s: %w", f.name, err), s.SyncDir(c.name))
		}
		c.remove++
	}
	return s.SyncDir(c.name)
}

// lastRemoved describes the newest segment to remove. The number and hash of its last entry are in the first line of
// the next segment, or in the chain's end note. If the segment being written changes meanwhile, one segment less is
// removed.
func (c *heldChain) lastRemoved(s storage.Storage) (pruned, error) {
	if c.remove == len(c.files) && c.ended {
		return pruned{Chain: c.name, Segment: c.files[c.remove-1].number, Size: c.end.Size, Last: c.end.Last}, nil
	}
	if c.remove == len(c.files) {
		p, err := c.before(s, c.name+"/"+format.ActiveSegment)
		if err == nil {
			return p, nil
		}
		if c.remove--; c.remove == 0 {
			return p, err
		}
	}
	return c.before(s, c.files[c.remove].name)
}

// before describes the newest segment to remove by the first line of the segment that follows it.
func (c *heldChain) before(s storage.Storage, next string) (pruned, error) {
	p := pruned{Chain: c.name, Segment: c.files[c.remove-1].number}
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
	var first pendingNote
	if err := format.DecodeData(l.Raw(), &first); err != nil {
		return p, format.LineError(next, l.Seq, err)
	}
	if !c.ended && first.Segment != p.Segment {
		return p, fmt.Errorf("%s does not follow segment %d", next, p.Segment)
	}
	p.Size, p.Last = l.Seq-1, format.Digest(l.Prev).String()
	return p, nil
}

// compress compresses the closed segments of all held chains. It locks each chain that has ended meanwhile, so that
// two processes do not compress the same segment.
func (u *upkeep) compress(own string) error {
	s := u.ledger.options.storage
	all, err := listHeld(s, func(chain string) (endNote, bool) { return readEnd(s.Files(), chain) })
	if err != nil {
		return err
	}
	for _, c := range all {
		if c.name != own && !c.ended {
			continue // another process writes it, or it has not been recovered yet
		}
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
			err = compressSegment(u.ctx, s, name, f.Name)
		}
	}
	return err
}

// signed signs a checkpoint over an entry and waits until it is durable: a verifier accepts only signed records of
// removed segments. It gives up after twice checkpointWithin.
func (l *Ledger) signed(receipt Receipt) bool {
	l.writer.signNow()
	tick := time.NewTicker(checkpointWithin / 500)
	defer tick.Stop()
	for end := time.Now().Add(2 * checkpointWithin); time.Now().Before(end); <-tick.C {
		if at := l.durableNote.Load(); at != nil && at.chain == receipt.Chain && at.size >= receipt.Seq {
			return true
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
// long lists into several entries and returns the receipt of the last one.
func (l *Ledger) recordPruned(gone []pruned, orphans []*heldChain) (Receipt, error) {
	const most = 1000
	var named []namedChain
	for _, o := range orphans {
		named = append(named, namedChain{Chain: o.name, Size: o.end.Size, Last: o.end.Last})
	}
	for {
		part, orphaned := min(len(gone), most), min(len(named), most)
		data := struct {
			Pruned []pruned     `json:"pruned,omitempty"`
			Before []namedChain `json:"before,omitempty"`
		}{gone[:part], named[:orphaned]}
		gone, named = gone[part:], named[orphaned:]
		receipt, err := l.Append(context.Background(), Entry{Kind: KindSetting, raw: format.MustJSON(data)})
		if err != nil || len(gone)+len(named) == 0 {
			return receipt, err
		}
	}
}
