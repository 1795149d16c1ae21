package filestore

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/internal/durable"
	"github.com/candor-mcp/candor/ledger"
)

// refresh makes the state that of the files. The chain is locked. If another process has appended since, or this one has not looked yet,
// refresh repairs the end of the chain and makes it durable, because a process may have been killed between writing and syncing.
func (c *chainState) refresh(root *os.Root, chain fleet.Chain) error {
	files, err := segments(root, chain)
	if err != nil {
		return err
	}
	if c.known && c.number == files.newest() && c.isActive(files.active) {
		return nil
	}
	c.known, c.active, c.size, c.number = false, nil, 0, files.newest()
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

// repair removes what a crash has left at the end of the active segment: half a line, or a batch with sectors of zeros. None of it was
// acknowledged. All other bytes stay, whatever they are.
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
	from := max(0, size-maxUnsynced-fleet.MaxLine-1)
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

// lastHead returns the head of a chain from its last whole line.
func lastHead(root *os.Root, chain fleet.Chain) (fleet.Head, error) {
	files, err := segments(root, chain)
	if errors.Is(err, fs.ErrNotExist) {
		return fleet.Head{}, nil
	}
	if err != nil {
		return fleet.Head{}, err
	}
	line, err := lastLine(root, activeName(chain))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fleet.Head{}, err
	}
	if len(line) == 0 && len(files.closed) > 0 { // the process ended between closing a segment and beginning the next
		if line, err = lastLineOf(root, files.closed[len(files.closed)-1]); err != nil {
			return fleet.Head{}, err
		}
	}
	if len(line) == 0 {
		return fleet.Head{}, nil
	}
	return fleet.HeadOf(chain, line)
}

// lastLine returns the last whole line of a file, or nothing.
func lastLine(root *os.Root, name string) ([]byte, error) {
	f, err := openRegular(root, name, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	for length := int64(64 << 10); ; length *= 8 {
		from := max(0, info.Size()-length)
		tail := make([]byte, info.Size()-from)
		if _, err := f.ReadAt(tail, from); err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		tail = tail[:bytes.LastIndexByte(tail, '\n')+1]
		begin := bytes.LastIndexByte(bytes.TrimSuffix(tail, []byte("\n")), '\n') + 1
		if begin > 0 || from == 0 || length > 2*fleet.MaxLine {
			return bytes.TrimSuffix(tail[begin:], []byte("\n")), nil
		}
	}
}

// lastLineOf returns the last line of a closed segment, which may be compressed.
func lastLineOf(root *os.Root, file closedSegment) ([]byte, error) {
	if !file.packed {
		return lastLine(root, file.name)
	}
	var last []byte
	err := eachLine(root, file, func(line []byte, _ int64) bool {
		last = append(last[:0], line...)
		return true
	})
	return last, err
}
