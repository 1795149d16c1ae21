package ship

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/candor-mcp/candor/internal/durable"
	"github.com/candor-mcp/candor/internal/filelock"
	"github.com/candor-mcp/candor/internal/segment/format"
)

// mark is the content of the file that makes retention wait for shipping.
type mark struct {
	Store string `json:"store"`
	ID    string `json:"id"` // see [fleet.Location.ID]
	Node  string `json:"node"`
}

// cursor is the last entry of a chain that the store has acknowledged.
type cursor struct {
	Seq  uint64 `json:"seq"`
	Hash string `json:"hash"`
	ID   string `json:"id"` // of the store, as in mark
}

// mark states in the folder where it is shipped to. What another store has acknowledged does not count for this one.
func (s *Shipper) mark() error {
	want := mark{Store: s.config.At.String(), ID: s.config.At.ID(), Node: s.config.At.Node}
	var have mark
	err := s.readJSON(format.ShippingFile, &have)
	switch {
	case err == nil && have == want:
		return nil
	case err == nil && have.Node != want.Node:
		return fmt.Errorf("the ledger in %s is shipped as node %s, not %s (hint: add node=%s to the URL, or name another folder with dir=)",
			s.config.Dir, have.Node, want.Node, have.Node)
	case err == nil:
		s.config.Log.Warn("the ledger was shipped to another store, and is now shipped from its beginning", slog.String("before", have.Store), slog.String("now", want.Store))
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("reading %s: %w", format.ShippingFile, err)
	}
	names, err := s.reader.Chains()
	for _, name := range names {
		if gone := s.root.Remove(name + "/" + format.ShippedFile); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}
	if err != nil {
		return fmt.Errorf("preparing the ledger for shipping: %w", err)
	}
	text, err := json.Marshal(want)
	if err == nil {
		err = durable.WriteFile(s.root, format.ShippingFile, append(text, '\n'), 0o600)
	}
	return err
}

func (s *Shipper) readJSON(name string, to any) error {
	info, err := s.root.Stat(name)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || info.Size() > format.MaxKeyFile {
		return fmt.Errorf("%s: not a file of at most %d bytes", name, format.MaxKeyFile)
	}
	b, err := s.root.ReadFile(name)
	if err != nil {
		return err
	}
	return json.Unmarshal(b, to)
}

// readCursor returns the last acknowledged entry as noted in the folder, or nothing if that is unknown.
func (s *Shipper) readCursor(chain string) cursor {
	var at cursor
	if s.readJSON(chain+"/"+format.ShippedFile, &at) != nil || at.ID != s.config.At.ID() { // another process may still ship to an earlier store
		return cursor{}
	}
	return at
}

// writeCursors notes the entries that the store has acknowledged since the last call. The files are replaced but not synced: after a power cut an older
// one only makes retention wait.
func (s *Shipper) writeCursors() {
	s.mu.Lock()
	dirty := map[string]cursor{}
	for name, c := range s.chains {
		if c.acked != c.noted && c.hash != "" {
			dirty[name], c.noted = cursor{c.acked, c.hash, s.config.At.ID()}, c.acked
		}
	}
	s.mu.Unlock()
	for name, at := range dirty {
		if err := s.writeCursor(name, at); err != nil && !errors.Is(err, fs.ErrNotExist) {
			s.config.Log.Warn("how far a chain was shipped could not be noted", slog.String("chain", name), slog.Any("error", err))
		}
	}
}

func (s *Shipper) writeCursor(chain string, at cursor) error {
	text, err := json.Marshal(at)
	if err != nil {
		return err
	}
	name := chain + "/" + format.ShippedFile
	aside := fmt.Sprintf("%s.%d.tmp", name, os.Getpid())
	if err := s.root.WriteFile(aside, append(text, '\n'), 0o600); err != nil {
		return err
	}
	return s.root.Rename(aside, name)
}

// watch looks at the folder from time to time: for chains of other processes, for what they have made durable, and for how far they were
// shipped.
func (s *Shipper) watch() {
	tick := time.NewTicker(s.config.poll)
	defer tick.Stop()
	for first := true; ; first = false {
		s.look()
		if first {
			close(s.looked)
		}
		s.writeCursors()
		select {
		case <-s.ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// look updates the state of all chains, and ships those of other processes if no other process does.
func (s *Shipper) look() {
	if !s.ships() {
		if lock, err := filelock.Open(s.root, format.ShippingLock); err == nil {
			s.mu.Lock()
			s.lock = lock
			s.mu.Unlock()
		}
	}
	names, err := s.reader.Chains()
	if err != nil {
		s.config.Log.Warn("the ledger could not be read", slog.Any("error", err))
		return
	}
	for _, name := range names {
		if s.ctx.Err() != nil {
			return
		}
		s.lookAt(name)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.others = 0
	for _, c := range s.chains {
		if !c.own {
			s.others += c.waiting()
		}
	}
}

// ships reports whether this process ships the chains of others.
func (s *Shipper) ships() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lock != nil
}

// lookAt updates the state of a chain that another process writes or has written.
func (s *Shipper) lookAt(name string) {
	s.mu.Lock()
	c := s.chains[name]
	settled := c != nil && (c.own || c.problem != "" || c.ended && c.acked >= c.durable && (c.checked || s.lock == nil))
	s.mu.Unlock()
	if settled {
		return
	}
	last, ended, err := s.reader.Durable(name)
	if err != nil {
		return // it was removed, or is being created
	}
	size, noted := s.size(name), s.readCursor(name)
	s.mu.Lock()
	defer s.mu.Unlock()
	if c = s.chains[name]; c == nil {
		c = newChain(name)
		s.chains[name] = c
	}
	if c.own {
		return
	}
	c.written = size
	c.extend(last, ended)
	c.wakeUp()
	if !c.running && noted.Seq > c.acked { // another process ships it
		c.noted = noted.Seq
		c.acknowledge(noted.Seq, noted.Hash, -1)
	}
	if size == 0 && ended && noted.Seq >= last { // retention has removed all of it, here and perhaps in the store
		c.checked = true
		return
	}
	if s.lock != nil {
		s.launch(c)
	}
}

// size returns the size of the segments of a chain.
func (s *Shipper) size(chain string) (total int64) {
	files, err := fs.ReadDir(s.root.FS(), chain)
	if err != nil {
		return 0
	}
	for _, f := range files {
		if info, err := f.Info(); err == nil && strings.HasPrefix(f.Name(), format.SegmentPrefix) {
			total += info.Size()
		}
	}
	return total
}
