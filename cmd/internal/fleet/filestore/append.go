package filestore

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/internal/durable"
	"github.com/candor-mcp/candor/internal/filelock"
)

// maxUnsynced is the number of bytes after which a batch is synced. A power cut can spoil only bytes that were not synced, so recovery
// examines only so much of the end of a file.
const maxUnsynced = 4 << 20

// lockWait limits the wait for another process that appends to the same chain.
const lockWait = 30 * time.Second

// chainState is what this process knows about a chain. It is guarded by turn.
type chainState struct {
	turn   chan struct{} // has one element while the state is in use
	known  bool          // the fields below were read from the files
	active os.FileInfo   // the active segment when the fields were set; nil if there is none
	size   int64         // of the active segment
	number int           // of the last closed segment
	head   fleet.Head
}

// lockChain waits for the chain, in this process and then among processes. The chain's folder must exist.
func (s *Store) lockChain(ctx context.Context, root *os.Root, chain fleet.Chain) (state *chainState, unlock func() error, err error) {
	s.mu.Lock()
	state, found := s.chains[chain]
	if !found {
		state = &chainState{turn: make(chan struct{}, 1)}
		s.chains[chain] = state
	}
	s.mu.Unlock()
	select {
	case state.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	file, err := filelock.Wait(ctx, root, folder(chain)+"/lock", lockWait)
	if errors.Is(err, filelock.ErrLocked) {
		err = candor.New(candor.CodeLedgerLocked, fmt.Sprintf("another process holds chain %s", chain), candor.WithCause(err))
	}
	if err != nil {
		<-state.turn
		return nil, nil, err
	}
	return state, func() error {
		defer func() { <-state.turn }()
		return file.Close()
	}, nil
}

// Head implements [fleet.Store]. It first makes the end of the chain durable, and repairs what a crash has left there: the caller will not
// send again what Head has returned.
func (s *Store) Head(ctx context.Context, chain fleet.Chain) (fleet.Head, error) {
	root, err := s.begin(ctx, chain, false)
	if errors.Is(err, fs.ErrNotExist) {
		return fleet.Head{}, nil
	}
	if err != nil {
		return fleet.Head{}, err
	}
	head, err := s.lockedHead(ctx, root, chain)
	return head, failed("reading the end of", chain, err)
}

func (s *Store) lockedHead(ctx context.Context, root *os.Root, chain fleet.Chain) (fleet.Head, error) {
	if _, err := root.Stat(folder(chain)); errors.Is(err, fs.ErrNotExist) {
		return fleet.Head{}, nil
	}
	state, unlock, err := s.lockChain(ctx, root, chain)
	if errors.Is(err, fs.ErrPermission) { // this user may only read, so it does not ship either
		return lastHead(root, chain)
	}
	if err != nil {
		return fleet.Head{}, err
	}
	err = state.refresh(root, chain)
	head := state.head // before the next one changes it
	return head, errors.Join(err, unlock())
}

// Append implements [fleet.Store].
func (s *Store) Append(ctx context.Context, chain fleet.Chain, after fleet.Head, lines [][]byte) error {
	if _, err := fleet.CheckLines(chain, after, lines); err != nil {
		return err
	}
	root, err := s.begin(ctx, chain, true)
	if err != nil {
		return err
	}
	if after != (fleet.Head{}) {
		if _, err := root.Stat(folder(chain)); errors.Is(err, fs.ErrNotExist) {
			return &fleet.ConflictError{Chain: chain}
		}
	} else if err := makeChain(root, chain); err != nil {
		return failed("making", chain, err)
	}
	state, unlock, err := s.lockChain(ctx, root, chain)
	if err != nil {
		return failed("appending to", chain, err)
	}
	err = state.append(ctx, root, chain, after, lines)
	err = failed("appending to", chain, errors.Join(err, unlock()))
	s.announce()
	return err
}

// announce wakes the followers of this process.
func (s *Store) announce() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.changed)
	s.changed = make(chan struct{})
}

// makeChain creates the folders of a node and of a chain durably.
func makeChain(root *os.Root, chain fleet.Chain) error {
	for _, at := range [][2]string{{".", chain.Node}, {chain.Node, folder(chain)}} {
		err := root.Mkdir(at[1], 0o700)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err == nil {
			err = durable.SyncDir(root, at[0])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *chainState) append(ctx context.Context, root *os.Root, chain fleet.Chain, after fleet.Head, lines [][]byte) error {
	if err := c.refresh(root, chain); err != nil {
		return err
	}
	if c.head != after {
		return &fleet.ConflictError{Chain: chain, Head: c.head}
	}
	if after == (fleet.Head{}) && len(lines) > 0 {
		if err := keepKey(root, chain, lines[0]); err != nil {
			return fmt.Errorf("storing the public key: %w", err)
		}
	}
	for len(lines) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		count, err := c.appendPart(root, chain, lines)
		if err != nil {
			c.known = false
			return err
		}
		lines = lines[count:]
	}
	return nil
}

// appendPart appends as many lines as are synced together: up to the next segment, or maxUnsynced bytes. It returns their number.
func (c *chainState) appendPart(root *os.Root, chain fleet.Chain, lines [][]byte) (int, error) {
	if number := closesSegment(lines[0]); number > c.number && c.active != nil {
		if err := c.rotate(root, chain, number); err != nil {
			return 0, fmt.Errorf("closing segment %d: %w", number, err)
		}
	}
	var batch bytes.Buffer
	count := 0
	for _, line := range lines {
		full := batch.Len() > 0 && batch.Len()+len(line) >= maxUnsynced
		if full || count > 0 && closesSegment(line) > c.number {
			break
		}
		batch.Write(line)
		batch.WriteByte('\n')
		count++
	}
	if err := c.write(root, chain, batch.Bytes()); err != nil {
		return 0, err
	}
	head, err := fleet.HeadOf(chain, lines[count-1])
	c.head = head
	return count, errors.Join(err, keepNotes(root, chain, lines[:count]))
}

// write appends bytes to the active segment and makes them durable. After an error it restores the previous size: none of the bytes were
// acknowledged.
func (c *chainState) write(root *os.Root, chain fleet.Chain, batch []byte) error {
	f, err := root.OpenFile(activeName(chain), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	if _, err = f.Write(batch); err == nil {
		err = durable.SyncData(f)
	}
	if err != nil {
		return errors.Join(err, f.Truncate(c.size), durable.SyncData(f), f.Close())
	}
	if c.active == nil {
		err = durable.SyncDir(root, folder(chain))
	}
	info, statErr := f.Stat()
	if err = errors.Join(err, statErr, f.Close()); err != nil {
		return err
	}
	c.active, c.size = info, info.Size()
	return nil
}

// rotate gives the active segment its final name.
func (c *chainState) rotate(root *os.Root, chain fleet.Chain, number int) error {
	if err := root.Rename(activeName(chain), closedName(chain, number)); err != nil {
		return err
	}
	c.active, c.size, c.number = nil, 0, number
	return durable.SyncDir(root, folder(chain))
}

// maxSegment is more segments than a chain has. A larger number in an entry is ignored.
const maxSegment = 1e9

// closesSegment returns the number of the segment that ends before a line, or 0 if the line does not begin a segment.
func closesSegment(line []byte) int {
	if !bytes.Contains(line, []byte(`"kind":"checkpoint"`)) || !bytes.Contains(line, []byte(`"segment":`)) {
		return 0
	}
	var entry struct {
		Kind string `json:"kind"`
		Data struct {
			Segment int `json:"segment"`
		} `json:"data"`
	}
	if json.Unmarshal(line, &entry) != nil || entry.Kind != "checkpoint" || entry.Data.Segment < 0 || entry.Data.Segment > maxSegment {
		return 0
	}
	return entry.Data.Segment
}
