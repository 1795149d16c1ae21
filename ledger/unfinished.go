package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/candor-mcp/candor/ledger/internal/format"
	"github.com/candor-mcp/candor/ledger/internal/storage"
)

// unfinishedAmong returns the files of a chain that have not got their final name yet: end notes and compressed
// segments are written under another name and renamed when they are durable.
func unfinishedAmong(list []fs.DirEntry, chain string) (names []string) {
	for _, item := range list {
		final, aside := strings.CutSuffix(item.Name(), storage.AsideSuffix)
		_, packed, isSegment := format.SegmentNumber(final)
		if aside && (final == format.EndFile || isSegment && packed) {
			names = append(names, chain+"/"+item.Name())
		}
	}
	return names
}

// removeUnfinished removes the files that killed processes did not complete. The caller holds the folder's lock, under
// which others write the end notes of chains that have ended. Each chain is locked meanwhile, because its writer or
// a process that compresses it may be at work.
func removeUnfinished(s storage.Storage, all []*heldChain) (failed error) {
	for _, c := range all {
		if !c.ended || len(c.unfinished) == 0 {
			continue
		}
		unlock, err := s.Lock(c.name+"/"+chainLock, nil)
		if errors.Is(err, storage.ErrLocked) {
			continue
		}
		if err == nil {
			err = errors.Join(removeAll(s, c.unfinished), unlock())
		}
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("removing unfinished files of %s: %w", c.name, err))
		}
	}
	return failed
}

func removeAll(s storage.Storage, names []string) (failed error) {
	for _, name := range names {
		failed = errors.Join(failed, storage.Remove(s, name))
	}
	return failed
}
