package filestore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/internal/durable"
	"github.com/candor-mcp/candor/internal/filelock"
	"github.com/candor-mcp/candor/internal/segment"
	"github.com/candor-mcp/candor/internal/segment/format"
	"github.com/candor-mcp/candor/ledger"
)

// maxUnsynced is the number of bytes after which a batch is synced. A power cut can spoil only bytes that were not
// synced, so recovery examines only so much of the end of a file.
const maxUnsynced = 4 << 20

// lockWait limits the wait for another process that appends to the same chain.
const lockWait = 30 * time.Second

// chainState is what this process knows about a chain. It is used under the lock of the chain.
type chainState struct {
	mu     sync.Mutex
	known  bool        // the fields below were read from the files
	active os.FileInfo // the active segment when the fields were set; nil if there is none
	size   int64       // of the active segment
	number int         // of the last closed segment
	head   fleet.Head
}

// locked calls do while this call alone, in all processes, uses the chain. The chain's folder must exist.
func (s *Store) locked(ctx context.Context, root *os.Root, chain fleet.Chain, do func(*chainState) error) error {
	file, err := filelock.Wait(ctx, root, folder(chain)+"/lock", lockWait)
	if errors.Is(err, filelock.ErrLocked) {
		return candor.New(candor.CodeLedgerLocked, fmt.Sprintf("another process holds chain %s", chain), candor.WithCause(err))
	}
	if err != nil {
		return err
	}
	s.mu.Lock()
	state, found := s.chains[chain]
	if !found {
		state = &chainState{}
		s.chains[chain] = state
	}
	s.mu.Unlock()
	state.mu.Lock()
	defer state.mu.Unlock()
	return errors.Join(do(state), file.Close())
}

// Head implements [fleet.Store]. It first makes the end of the chain durable, and repairs the end after a crash: the
// caller will not send these entries again.
func (s *Store) Head(ctx context.Context, chain fleet.Chain) (head fleet.Head, err error) {
	root, err := s.begin(ctx, chain, false)
	if err == nil {
		_, err = root.Stat(folder(chain))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return fleet.Head{}, nil
	}
	if err == nil {
		err = s.locked(ctx, root, chain, func(state *chainState) error {
			err := state.refresh(root, chain)
			head = state.head
			return err
		})
		if errors.Is(err, fs.ErrPermission) { // this user may only read, so it does not ship either
			head, err = lastHead(root, chain)
		}
	}
	return head, failed("reading the end of", chain, err)
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
	if after == (fleet.Head{}) {
		err = makeChain(root, chain)
	} else if _, err = root.Stat(folder(chain)); errors.Is(err, fs.ErrNotExist) {
		return &fleet.ConflictError{Chain: chain}
	}
	if err == nil {
		err = s.locked(ctx, root, chain, func(state *chainState) error { return state.append(ctx, root, chain, after, lines) })
	}
	return failed("appending to", chain, err)
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

// refresh makes the state that of the files. The chain is locked. If another process has appended since, or this one has not looked yet,
// refresh repairs the end of the chain and makes it durable, because a process may have been killed between writing and syncing.
func (c *chainState) refresh(root *os.Root, chain fleet.Chain) error {
	files, err := segments(root, chain)
	if err != nil {
		return err
	}
	if c.known && c.number == segment.LastNumber(files.closed) && c.isActive(files.active) {
		return nil
	}
	c.known, c.active, c.size, c.number = false, nil, 0, segment.LastNumber(files.closed)
	if files.active != nil {
		if c.active, c.size, err = repair(root, chain); err != nil {
			return err
		}
	}
	if c.head, err = lastHead(root, chain); err != nil {
		return err
	}
	c.known = true
	return nil
}

// isActive reports whether the active segment is as this process has left it.
func (c *chainState) isActive(now os.FileInfo) bool {
	if now == nil || c.active == nil {
		return now == nil && c.active == nil
	}
	return os.SameFile(now, c.active) && now.Size() == c.size
}

// repair removes the remains of a crash at the end of the active segment: half a line, or a batch with sectors of
// zeros. It was not acknowledged. All other bytes stay.
func repair(root *os.Root, chain fleet.Chain) (os.FileInfo, int64, error) {
	f, err := openRegular(root, activeName(chain), os.O_RDWR)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close() //nolint:errcheck // it is synced
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	good, err := goodEnd(f, info.Size())
	if err != nil {
		return nil, 0, err
	}
	if good < info.Size() {
		if err := f.Truncate(good); err != nil {
			return nil, 0, err
		}
	}
	if err := durable.SyncData(f); err != nil {
		return nil, 0, err
	}
	info, err = f.Stat()
	return info, good, err
}

// goodEnd returns the offset after which a file of this size has only what a crash leaves.
func goodEnd(f io.ReaderAt, size int64) (int64, error) {
	from := max(0, size-maxUnsynced-format.MaxLine)
	tail := make([]byte, size-from)
	if _, err := f.ReadAt(tail, from); err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	at := 0
	if from > 0 { // begin with a whole line
		at = bytes.IndexByte(tail, '\n') + 1
	}
	for {
		end := bytes.IndexByte(tail[at:], '\n')
		if end < 0 {
			return from + int64(at), nil
		}
		line := tail[at : at+end]
		if _, err := ledger.ParseLine(line); err != nil && bytes.IndexByte(line, 0) >= 0 {
			return from + int64(at), nil
		}
		at += end + 1
	}
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

// write appends bytes to the active segment and makes them durable. After an error it restores the previous size,
// because the bytes were not acknowledged.
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
	if err := root.Rename(activeName(chain), folder(chain)+"/"+format.ClosedSegment(number)); err != nil {
		return err
	}
	c.active, c.size, c.number = nil, 0, number
	return durable.SyncDir(root, folder(chain))
}

// ownData is the part of the data of the ledger's own entries that a store uses.
type ownData struct {
	Key     string `json:"key"`     // in the first entry of a chain
	Segment int    `json:"segment"` // in a checkpoint that begins a segment: the number of the one before
	Note    string `json:"note"`    // in a checkpoint
}

// checkpointIn returns the data of a checkpoint entry, and zero data for other lines.
func checkpointIn(line []byte) (data ownData) {
	if entry, err := ledger.ParseLine(line); err != nil || entry.Kind != ledger.KindCheckpoint || format.DecodeData(line, &data) != nil {
		return ownData{}
	}
	return data
}

// maxSegment is more segments than a chain has. A larger number in an entry is ignored.
const maxSegment = 1e9

// closesSegment returns the number of the segment that ends before a line, or 0 if the line does not begin a segment.
func closesSegment(line []byte) int {
	if !bytes.Contains(line, []byte(`"segment":`)) {
		return 0
	}
	if n := checkpointIn(line).Segment; n > 0 && n <= maxSegment {
		return n
	}
	return 0
}

// keepKey stores the public key that the first entry of a chain names, so that the node's folder can be verified like a ledger. A key that
// it replaces is kept in keys/old. An entry without a valid key is not an error: a store decides nothing.
func keepKey(root *os.Root, chain fleet.Chain, first []byte) error {
	var data ownData
	if format.DecodeData(first, &data) != nil {
		return nil
	}
	if _, err := note.NewVerifier(data.Key); err != nil || strings.ContainsAny(data.Key, "\r\n") {
		return nil //nolint:nilerr // not a key
	}
	at := chain.Node + "/"
	if err := root.MkdirAll(at+format.OldKeysDir, 0o700); err != nil {
		return err
	}
	current, err := root.ReadFile(at + format.SignerPub)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	old := strings.TrimSpace(string(current))
	if old == data.Key {
		return nil
	}
	if verifier, err := note.NewVerifier(old); err == nil {
		name := fmt.Sprintf("%s%s/%08x.pub", at, format.OldKeysDir, verifier.KeyHash())
		if err := durable.WriteFile(root, name, []byte(old+"\n"), 0o644); err != nil {
			return err
		}
	}
	return errors.Join(durable.WriteFile(root, at+format.SignerPub, []byte(data.Key+"\n"), 0o644), durable.SyncDir(root, chain.Node))
}

// keepNotes adds the checkpoints among lines that are durable to the chain's file of checkpoints. The file is not
// synced: a checkpoint that a power cut takes from it is still in its entry.
func keepNotes(root *os.Root, chain fleet.Chain, lines [][]byte) error {
	var blocks []byte
	for _, line := range lines {
		if !bytes.Contains(line, []byte(`"note":`)) {
			continue
		}
		if text := checkpointIn(line).Note; strings.HasPrefix(text, format.Origin+chain.Name+"\n") {
			blocks = append(append(blocks, text...), format.BlockEnd...)
		}
	}
	if len(blocks) == 0 {
		return nil
	}
	f, err := root.OpenFile(folder(chain)+"/"+format.CheckpointsFile, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(blocks)
	return errors.Join(err, f.Close())
}
