package ledger

import (
	"errors"
	"fmt"
	"io/fs"
)

// errTaken says that a file of the chain is not where the writer has put it, or not as it left it.
var errTaken = errors.New("the trail was taken away from its writer")

// watchFiles remembers the lock and the file of checkpoints. The segment has its own watch.
func (c *chain) watchFiles() (err error) {
	if c.lock, err = c.storage.Watch(c.name + "/" + chainLock); err != nil {
		return fmt.Errorf("looking at the lock: %w", err)
	}
	if c.notes.watch, err = c.storage.Watch(c.name + "/" + notesFile); err != nil {
		return fmt.Errorf("looking at the checkpoints: %w", err)
	}
	return nil
}

// present checks that the chain's files are still at their paths and that this writer alone has written to them. A file that was
// unlinked or moved takes every write without an error, so that writing and syncing prove nothing about what a reader will find.
func (c *chain) present() error {
	size, err := c.segment.watch()
	c.segment.taken = errors.Is(err, errReplaced) || errors.Is(err, fs.ErrNotExist) || err == nil && size != c.segment.size
	if err == nil && c.segment.taken {
		err = fmt.Errorf("%s/%s has %d bytes, want %d", c.name, activeSegment, size, c.segment.size)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errTaken, err)
	}
	if size, err = c.notes.watch(); err == nil && size != c.notes.size {
		err = fmt.Errorf("%s/%s has %d bytes, want %d", c.name, notesFile, size, c.notes.size)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errTaken, err)
	}
	if _, err = c.lock(); err != nil { // without it another writer takes this chain for abandoned
		return fmt.Errorf("%w: %w", errTaken, err)
	}
	return nil
}
