package ledger

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/candor-mcp/candor/internal/segment"
	"github.com/candor-mcp/candor/internal/segment/format"
	"github.com/candor-mcp/candor/internal/storage"
	"github.com/candor-mcp/candor/ledger/internal/keys"
)

// found is a chain that was in the folder when a new one began.
type found struct {
	name     string
	end      endNote
	live     bool
	named    bool // a chain that still exists names it
	gone     bool // its folder was removed while this process wrote it
	recovery *recoveredChain
	unlock   func() error // releases the lock of a recovered chain; nil for others
}

// survey examines all chains of the folder and recovers those whose writer has exited. The caller holds the folder's
// lock.
func (w *writer) survey() ([]*found, error) {
	names, err := segment.Chains(w.storage.Files())
	if err != nil {
		return nil, err
	}
	there := map[string]bool{}
	for _, name := range names {
		there[name] = true
	}
	all := make([]*found, 0, len(names))
	for _, name := range names {
		f, err := w.look(name)
		if err != nil {
			return all, err
		}
		f.named = f.end.Named != "" && there[f.end.Named]
		all = append(all, f)
	}
	for _, c := range w.poisoned {
		if !there[c.name] {
			f := &found{name: c.name, gone: true}
			f.givenUp(c)
			all = append(all, f)
		}
	}
	return all, nil
}

// look finds out how a chain ended. It reads the chain only if it has no end note.
func (w *writer) look(name string) (*found, error) {
	f := &found{name: name}
	for _, c := range w.poisoned {
		if c.name == name {
			f.givenUp(c)
			return f, nil
		}
	}
	if end, ok := readEnd(w.storage.Files(), name); ok {
		f.end = end
		return f, nil
	}
	unlock, err := w.storage.Lock(name+"/"+chainLock, nil)
	if errors.Is(err, storage.ErrLocked) {
		size, last := lastCheckpoint(w.storage.Files(), name) // the entries that it covers are durable; later ones may not be
		if size == 0 {
			last = format.Genesis(name)
		}
		f.live, f.end.Size, f.end.Last = true, size, last.String()
		return f, nil
	}
	if err != nil {
		return f, fmt.Errorf("locking %s: %w", name, err)
	}
	f.unlock = unlock
	r, err := recoverChain(w.storage, name)
	if err != nil {
		return f, errors.Join(fmt.Errorf("recovering %s: %w", name, err), unlock())
	}
	f.end = endNote{How: endRecovered, Size: r.Size, Last: r.Last}
	if r.closed {
		f.end.How = endClosed
		return f, nil
	}
	f.recovery = &r
	return f, nil
}

// givenUp describes a chain that this process has poisoned, up to its last acknowledged entry.
func (f *found) givenUp(c *chain) {
	root := c.at.tree.Root()
	f.end = endNote{How: endPoisoned, Size: c.at.seq(), Last: c.at.last.String()}
	f.recovery = &recoveredChain{Chain: c.name, Size: c.at.seq(), Last: f.end.Last, Root: root.String(), Open: listOpen(c.open), Poisoned: true}
}

// begin starts a chain and records in it the state of the other chains. It holds the folder's lock while it does so.
func (w *writer) begin() error {
	moved, err := w.storage.Reopen()
	if err != nil {
		return logFailed(fmt.Errorf("finding the ledger's folder: %w", err))
	}
	unlock, err := lockFolder(w.storage, w.ledger.options.LockWait)
	if err != nil {
		return err
	}
	if moved {
		w.keys, err = keys.Restore(w.storage, w.keys)
	}
	if err == nil {
		err = w.beginLocked()
	}
	return logFailed(errors.Join(err, unlock()))
}

func (w *writer) beginLocked() error {
	all, err := w.survey()
	if err == nil {
		err = w.beginAfter(all)
	}
	if err != nil {
		err = logFailed(fmt.Errorf("starting a chain: %w", err))
	}
	for _, f := range all {
		if f.unlock != nil {
			err = errors.Join(err, f.unlock())
		}
	}
	return err
}

// beginAfter creates the new chain. If that fails it removes the chain again, so that a disk that keeps failing does
// not fill with attempts.
func (w *writer) beginAfter(all []*found) error {
	now := w.now()
	name := newChainName(w.ledger.options.Instance, now)
	c, err := beginChain(w.storage, name, now)
	if err != nil {
		return errors.Join(err, w.erase(name))
	}
	w.chain, w.pending, w.dirty, w.due = c, nil, false, false
	w.beginning = true
	err = w.introduce(all)
	if err == nil && slices.ContainsFunc(all, func(f *found) bool { return f.recovery != nil }) {
		// A verifier accepts only signed records about other chains, so they are signed before the end notes are written.
		if err = w.sign(); err == nil {
			err = w.syncNotes()
		}
	}
	w.beginning = false
	if err != nil {
		if w.chain != nil {
			err = errors.Join(err, w.chain.stop())
		} else {
			w.poisoned = w.poisoned[:len(w.poisoned)-1]
		}
		w.chain = nil
		return errors.Join(err, w.erase(name), c.unlock())
	}
	w.ledger.writing.Store(&c.name)
	w.ledger.counters.chains.Add(1)
	w.ledger.counters.segments.Add(1)
	w.announce(c.segment.size)
	w.conclude(all)
	if err := w.keepBack(); storage.IsFull(err) {
		w.ledger.warner.warn(warningFull, "no space could be kept back", err)
	}
	return nil
}

// erase removes a chain that could not be created completely.
func (w *writer) erase(name string) error {
	var err error
	for _, file := range []string{format.ActiveSegment, format.CheckpointsFile, format.ShippedFile, format.ShippingLock, chainLock, ""} {
		err = errors.Join(err, storage.Remove(w.storage, strings.TrimSuffix(name+"/"+file, "/")))
	}
	return err
}

// namedChain is a chain as the first entry of another chain names it.
type namedChain struct {
	Chain string `json:"chain"`
	Size  uint64 `json:"size"`
	Last  string `json:"last"`
	Live  bool   `json:"live,omitempty"`
}

// introduce writes the first entries: the configuration, the chains that existed, and the recovered chains.
func (w *writer) introduce(all []*found) error {
	const most = 1000
	named := []namedChain{}
	var bodies [][]byte
	for _, f := range all {
		if !f.named {
			named = append(named, namedChain{f.name, f.end.Size, f.end.Last, f.live})
		}
		if f.recovery != nil {
			bodies = append(bodies, ownBody(KindRecovered, f.recovery))
		}
	}
	part := min(len(named), most)
	first := [][]byte{ownBody(KindSetting, struct {
		Version int          `json:"version"`
		Key     string       `json:"key"`
		Policy  string       `json:"policy"`
		Within  int64        `json:"checkpoint_ms"`
		Second  string       `json:"second_place,omitempty"`
		Rotated []string     `json:"rotated,omitempty"`
		Before  []namedChain `json:"before"`
	}{1, w.keys.Public, "closed", checkpointWithin.Milliseconds(), w.witness.path, w.keys.Rotations, named[:part]})}
	for named = named[part:]; len(named) > 0; named = named[part:] {
		part = min(len(named), most)
		first = append(first, ownBody(KindSetting, struct {
			Before []namedChain `json:"before"`
		}{named[:part]}))
	}
	return w.writeOwn(append(first, bodies...))
}

// writeOwn makes many entries that the ledger writes itself durable, with checkpoints between them.
func (w *writer) writeOwn(bodies [][]byte) error {
	for len(bodies) > 0 {
		n := min(len(bodies), maxBatch/2)
		w.stamp = w.now()
		if w.mustSign(n) {
			if err := w.sign(); err != nil {
				return err
			}
		}
		part := append(w.ownBodies(nil), bodies[:n]...)
		if err := w.write(part); err != nil {
			return err
		}
		w.recorded(len(part), 0)
		bodies = bodies[n:]
	}
	return nil
}

// conclude writes the end notes of the chains that are now recorded, so that they need not be read again. If a crash
// prevents that, they are examined and recorded once more.
func (w *writer) conclude(all []*found) {
	for _, f := range all {
		if f.live || f.named || f.gone {
			continue
		}
		f.end.Named = w.chain.name
		if err := writeEnd(w.storage, f.name, f.end); err != nil {
			w.ledger.warner.warn(warningUpkeep, "how chain "+f.name+" ended could not be noted", err)
		}
		if r := f.recovery; r != nil && (r.Cut > 0 || r.Damage != nil) {
			w.ledger.warner.warn(warningRecovered, "chain "+f.name+" was recovered with a loss, see its entry", nil)
		}
	}
	for _, c := range w.poisoned {
		if err := c.unlock(); err != nil {
			w.ledger.warner.warn(warningUpkeep, "a lock could not be released", err)
		}
	}
	w.poisoned = nil
}
