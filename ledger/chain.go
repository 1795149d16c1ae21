package ledger

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/candor-mcp/candor/internal/segment/format"
	"github.com/candor-mcp/candor/internal/storage"
	"github.com/candor-mcp/candor/ledger/internal/tree"
)

// chain is the chain that this process writes. It is guarded by the writer's lock.
//
// at is the position after the last acknowledged entry. A batch works on a copy, which replaces at once the batch is
// durable.
type chain struct {
	name    string
	storage storage.Storage
	unlock  func() error
	lock    storage.Watch
	leaves  tree.RecordHasher
	lines   []byte // the batch being composed; kept to reuse its memory

	at      position
	segment *segmentWriter // nil between two segments, if the next could not be begun yet
	closed  int            // number of closed segments
	notes   notes
	covered uint64                 // size of the last checkpoint
	open    map[uint64]reservation // by seq: reserved and not completed
}

// newChainName returns a new unique chain name. The time makes it readable; the random part makes it unique.
func newChainName(instance string, now time.Time) string {
	var random [4]byte
	_, _ = rand.Read(random[:]) // never fails, see crypto/rand
	stamp := strings.Replace(now.UTC().Format("20060102T150405.000Z"), ".", "", 1)
	return instance + "-" + stamp + "-" + hex.EncodeToString(random[:])
}

// beginChain creates the folder and the files of a new chain. The caller holds the folder's lock, so that no other
// process mistakes a chain that is not locked yet for an abandoned one. A crash leaves a chain without entries, which
// recovery closes.
func beginChain(s storage.Storage, name string, now time.Time) (_ *chain, err error) {
	c := &chain{name: name, storage: s, leaves: tree.NewRecordHasher(), open: map[uint64]reservation{}}
	c.at.last = format.Genesis(name)
	if err := s.MkdirAll(name, 0o700); err != nil {
		return nil, fmt.Errorf("making a folder for the chain: %w", err)
	}
	if c.unlock, err = s.Lock(name+"/"+chainLock, newLockNote(name, now)); err != nil {
		return nil, fmt.Errorf("locking the new chain: %w", err)
	}
	if c.notes.file, err = s.Create(name+"/"+format.CheckpointsFile, 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("making the file for checkpoints: %w", err), c.unlock())
	}
	if err := c.watchFiles(); err != nil {
		return nil, errors.Join(err, c.notes.file.Close(), c.unlock())
	}
	if err := c.beginSegment(); err != nil { // makes all names in the chain's folder durable
		return nil, errors.Join(err, c.notes.file.Close(), c.unlock())
	}
	if err := s.SyncDir("."); err != nil {
		return nil, errors.Join(fmt.Errorf("syncing the folder: %w", err), c.abandon())
	}
	return c, nil
}

// beginSegment creates the active file, which is empty. Its name is durable when beginSegment returns.
func (c *chain) beginSegment() error {
	name := c.name + "/" + format.ActiveSegment
	f, err := c.storage.Create(name, 0o600)
	if err != nil {
		return fmt.Errorf("making a segment: %w", err)
	}
	if err := c.storage.SyncDir(c.name); err != nil {
		return errors.Join(fmt.Errorf("%w: %w", errFolderSync, err), f.Close())
	}
	there, err := c.storage.Watch(name)
	if err != nil {
		return errors.Join(fmt.Errorf("%w: %w", errTaken, err), f.Close())
	}
	c.segment = &segmentWriter{file: f, watch: there}
	return nil
}

// abandon closes all files and releases the lock, without a closing checkpoint.
func (c *chain) abandon() error {
	err := c.stop()
	return errors.Join(err, c.unlock())
}

// stop closes the files but keeps the lock.
func (c *chain) stop() error {
	var err error
	if c.segment != nil {
		err = c.segment.release()
		c.segment = nil
	}
	if c.notes.file != nil {
		err = errors.Join(err, c.notes.file.Close())
		c.notes.file = nil
	}
	return err
}

// uncovered returns the number of entries after the last checkpoint.
func (c *chain) uncovered() int { return int(c.at.seq() - c.covered) } //nolint:gosec // at most maxUncovered

// commit numbers, links and hashes the bodies, writes them with one write and makes them durable with one sync. It
// fills in results. After an error no entry of the batch is recorded, and the chain may be written again only if
// sound is true.
func (c *chain) commit(bodies [][]byte, results []result, now time.Time) (sound bool, err error) {
	at := c.at
	at.time = max(format.FormatTime(now), at.time)
	c.lines = c.lines[:0]
	for i, body := range bodies {
		c.appendLine(&at, body)
		results[i] = result{chain: c.name, seq: at.seq(), hash: at.last, time: at.time}
	}
	if sound, err := c.segment.write(c.lines); err != nil {
		return sound, err
	}
	if err := c.present(); err != nil {
		c.segment.size -= int64(len(c.lines)) // no entry of the batch is recorded
		return false, err
	}
	c.at = at // durable from this point on
	c.segment.entries += len(bodies)
	if cap(c.lines) > format.MaxLine { // do not keep the memory of an unusually large batch
		c.lines = nil
	}
	return true, nil
}

// appendLine adds one line to the batch and advances at past it.
func (c *chain) appendLine(at *position, body []byte) {
	start := len(c.lines)
	b := append(append(c.lines, format.LineStart...), c.name...)
	b = strconv.AppendUint(append(b, format.LineSeq...), at.seq()+1, 10)
	b = append(append(b, format.LineTime...), at.time...)
	b = hex.AppendEncode(append(b, format.LinePrev...), at.last[:])
	b = append(append(b, '"'), body...)
	own := format.Digest(sha256.Sum256(b[start:]))
	b = hex.AppendEncode(append(b, format.LineHash...), own[:])
	b = append(b, format.LineEnd...)
	at.advance(b[start:], own, c.leaves)
	c.lines = append(b, '\n')
}

// listOpen returns the open reservations, oldest first, in the form in which entries record them.
func listOpen(open map[uint64]reservation) []reservation {
	const most = 1000
	var list []reservation
	for _, seq := range slices.Sorted(maps.Keys(open)) {
		if list = append(list, open[seq]); len(list) == most {
			break
		}
	}
	return list
}

// position is the state of a chain after an entry. It can be copied by assignment, as the tree can.
type position struct {
	tree tree.Tree
	last format.Digest // hash of the last entry, or genesis
	time string        // of the last entry, in its wire form, which sorts as text
}

func (p *position) seq() uint64 { return p.tree.Size }

// micros returns the time of the last entry in microseconds.
func (p *position) micros() int64 {
	at, _ := format.ReadTime([]byte(p.time)) // format.FormatTime wrote it
	return at.UnixMicro()
}

// advance adds an entry that the caller has checked.
func (p *position) advance(line []byte, own format.Digest, leaves tree.RecordHasher) {
	p.tree.Push(leaves.Sum(line))
	p.last = own
}

// errTaken means that a file of the chain is not at its path, or was changed by another process.
var errTaken = errors.New("a file of the chain was removed or changed by another process")

// watchFiles starts watching the lock and the file of checkpoints. The segment has a separate watch.
func (c *chain) watchFiles() (err error) {
	if c.lock, err = c.storage.Watch(c.name + "/" + chainLock); err != nil {
		return fmt.Errorf("checking the lock: %w", err)
	}
	if c.notes.watch, err = c.storage.Watch(c.name + "/" + format.CheckpointsFile); err != nil {
		return fmt.Errorf("checking the checkpoints: %w", err)
	}
	return nil
}

// present checks that the chain's files are still at their paths and that only this writer has written to them.
// Writes to a file that was unlinked or moved succeed, so a successful write and sync do not show that readers will
// find the entries.
func (c *chain) present() error {
	size, err := c.segment.watch()
	c.segment.taken = errors.Is(err, storage.ErrReplaced) || errors.Is(err, fs.ErrNotExist) || err == nil && size != c.segment.size
	if err == nil && c.segment.taken {
		err = fmt.Errorf("%s/%s has %d bytes, want %d", c.name, format.ActiveSegment, size, c.segment.size)
	}
	if err == nil {
		if size, err = c.notes.watch(); err == nil && size != c.notes.size {
			err = fmt.Errorf("%s/%s has %d bytes, want %d", c.name, format.CheckpointsFile, size, c.notes.size)
		}
	}
	if err == nil {
		_, err = c.lock() // without the lock another writer would treat this chain as abandoned
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errTaken, err)
	}
	return nil
}

// endNote records how a chain ended, so that the next process that opens the folder need not read the chain. It
// proves nothing: a verifier reads the chain itself.
type endNote struct {
	How   string `json:"how"`
	Size  uint64 `json:"size"`
	Last  string `json:"last"`
	Named string `json:"named,omitempty"` // the chain that names this one with its final size in its first entries
}

// The values of endNote.How.
const (
	endClosed    = "closed"
	endRecovered = "recovered"
	endPoisoned  = "poisoned"
)

func writeEnd(s storage.Storage, chain string, n endNote) error {
	return storage.WriteFile(s, chain+"/"+format.EndFile, append(format.MustJSON(n), '\n'), 0o600)
}

// readEnd returns the note, or false without a valid one. The chain is then examined again.
func readEnd(files fs.FS, chain string) (endNote, bool) {
	b, err := storage.ReadSmall(files, chain+"/"+format.EndFile, format.MaxKeyFile)
	var n endNote
	if err != nil || json.Unmarshal(b, &n) != nil || len(n.Last) != 2*len(format.Digest{}) {
		return endNote{}, false
	}
	return n, n.How == endClosed || n.How == endRecovered || n.How == endPoisoned
}
