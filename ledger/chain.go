package ledger

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// chain is the chain this process writes. It is guarded by the writer's lock.
//
// Its position is that of the last acknowledged entry; a batch works on a copy that takes its place once the batch is durable.
type chain struct {
	name    string
	storage storage
	unlock  func() error
	lock    watch
	leaves  recordHasher
	lines   []byte // the batch being composed; kept for its space

	at      position
	segment *segment // nil between two segments, if the next could not be begun yet
	closed  int      // number of closed segments
	notes   notes
	covered uint64                 // size of the last checkpoint
	open    map[uint64]reservation // by seq: reserved and not completed
}

// newChainName makes a name that no chain has had. The time is there for people, the random part for certainty.
func newChainName(instance string, now time.Time) string {
	var random [4]byte
	_, _ = rand.Read(random[:]) // never fails, see crypto/rand
	stamp := strings.Replace(now.UTC().Format("20060102T150405.000Z"), ".", "", 1)
	return instance + "-" + stamp + "-" + hex.EncodeToString(random[:])
}

// beginChain makes the folder and the files of a new chain. The caller holds the folder's lock, so that nobody takes a chain that is not locked
// yet for an abandoned one. A crash leaves a chain without entries, which recovery closes.
func beginChain(s storage, name string, now time.Time) (_ *chain, err error) {
	c := &chain{name: name, storage: s, leaves: newRecordHasher(), open: map[uint64]reservation{}}
	c.at.last = genesis(name)
	if err := s.MkdirAll(name, 0o700); err != nil {
		return nil, fmt.Errorf("making a folder for the chain: %w", err)
	}
	if c.unlock, err = s.Lock(name+"/"+chainLock, newLockNote(name, now)); err != nil {
		return nil, fmt.Errorf("locking the new chain: %w", err)
	}
	if c.notes.file, err = s.Create(name+"/"+notesFile, 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("making the file for checkpoints: %w", err), c.unlock())
	}
	if err := c.watchFiles(); err != nil {
		return nil, errors.Join(err, c.notes.file.Close(), c.unlock())
	}
	if err := c.beginSegment(now); err != nil {
		return nil, errors.Join(err, c.notes.file.Close(), c.unlock())
	}
	if err := s.SyncDir("."); err != nil {
		return nil, errors.Join(fmt.Errorf("syncing the folder: %w", err), c.abandon())
	}
	return c, nil
}

// beginSegment makes the active file. Its name is durable when it returns; it is empty.
func (c *chain) beginSegment(now time.Time) error {
	name := c.name + "/" + activeSegment
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
	c.segment = &segment{file: f, watch: there, started: now.Unix()}
	return nil
}

// abandon closes all files and gives the lock back, without a last word.
func (c *chain) abandon() error {
	err := c.stop()
	return errors.Join(err, c.unlock())
}

// stop closes the files and keeps the lock.
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

// uncovered is how many entries stand behind the last checkpoint.
func (c *chain) uncovered() int { return int(c.at.seq() - c.covered) } //nolint:gosec // at most maxUncovered

// commit numbers, links and hashes the bodies, writes them with one write and makes them durable with one sync. It fills in the results. After
// an error nothing of the batch counts, and the chain goes on only if it is sound.
func (c *chain) commit(bodies [][]byte, results []result, now time.Time) (sound bool, err error) {
	at := c.at
	at.time = max(formatTime(now), at.time)
	c.lines = c.lines[:0]
	for i, body := range bodies {
		c.appendLine(&at, body)
		results[i] = result{chain: c.name, seq: at.seq(), hash: at.last, time: at.time}
	}
	if sound, err := c.segment.write(c.lines); err != nil {
		return sound, err
	}
	if err := c.present(); err != nil {
		c.segment.size -= int64(len(c.lines)) // nothing of the batch counts
		return false, err
	}
	c.at = at // durable from here on
	c.segment.entries += len(bodies)
	if cap(c.lines) > maxLine { // a batch of long texts; not every one will be
		c.lines = nil
	}
	return true, nil
}

// appendLine adds one line to the batch and moves at behind it.
func (c *chain) appendLine(at *position, body []byte) {
	start := len(c.lines)
	b := append(append(c.lines, lineStart...), c.name...)
	b = strconv.AppendUint(append(b, lineSeq...), at.seq()+1, 10)
	b = append(append(b, lineTime...), at.time...)
	b = hex.AppendEncode(append(b, linePrev...), at.last[:])
	b = append(append(b, '"'), body...)
	own := Digest(sha256.Sum256(b[start:]))
	b = hex.AppendEncode(append(b, lineHash...), own[:])
	b = append(b, lineEnd...)
	at.advance(b[start:], own, c.leaves)
	c.lines = append(b, '\n')
}

// checkpoint is the one over all that is acknowledged.
func (c *chain) checkpoint() checkpoint {
	return checkpoint{chain: c.name, size: c.at.seq(), root: c.at.tree.root(), last: c.at.last, time: c.at.time}
}

// unfinished lists the open reservations, oldest first, as an entry holds them.
func (c *chain) unfinished() []reservation { return listOpen(c.open) }

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
