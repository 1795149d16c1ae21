package filestore

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/internal/durable"
	"github.com/candor-mcp/candor/internal/segment"
	"github.com/candor-mcp/candor/internal/segment/format"
	"github.com/candor-mcp/candor/ledger"
)

// Remove implements [fleet.Store]. It keeps the last entry of a chain, which is its head. Retention removes whole segments; a segment that
// is only partly removed is written again.
func (s *Store) Remove(ctx context.Context, chain fleet.Chain, through uint64) error {
	root, err := s.begin(ctx, chain, false)
	if err == nil {
		_, err = root.Stat(folder(chain))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return failed("removing entries of", chain, err)
	}
	err = s.locked(ctx, root, chain, func(state *chainState) error {
		if err := state.refresh(root, chain); err != nil {
			return err
		}
		state.known = false
		return remove(ctx, root, chain, min(through, max(state.head.Seq, 1)-1))
	})
	return failed("removing entries of", chain, err)
}

func remove(ctx context.Context, root *os.Root, chain fleet.Chain, through uint64) error {
	files, err := segments(root, chain)
	if err != nil {
		return err
	}
	list := files.closed
	if files.active != nil {
		list = append(list, segment.File{Name: activeName(chain)})
	}
	for i, file := range list {
		first, err := firstSeq(root, file)
		if err = errors.Join(err, ctx.Err()); err != nil || first == 0 || first > through {
			return err
		}
		next := uint64(0)
		if i+1 < len(list) {
			if next, err = firstSeq(root, list[i+1]); err != nil {
				return err
			}
		}
		if next == 0 || next > through+1 {
			return cut(root, chain, file, through)
		}
		if err := removeSegment(root, chain, file); err != nil {
			return err
		}
	}
	return nil
}

// firstSeq returns the number of the first entry of a segment, or 0 if its first line is not an entry.
func firstSeq(root *os.Root, file segment.File) (uint64, error) {
	line, err := segment.FirstLine(root.FS(), file)
	if errors.Is(err, io.EOF) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	seq, err := seqOf(line)
	if err != nil {
		return 0, nil //nolint:nilerr // it is kept
	}
	return seq, nil
}

// removeSegment removes a closed segment in both its forms. The removal is durable before the next segment is removed.
func removeSegment(root *os.Root, chain fleet.Chain, file segment.File) error {
	plain := folder(chain) + "/" + format.ClosedSegment(file.Number)
	for _, name := range []string{plain, plain + format.GzipSuffix} {
		if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return durable.SyncDir(root, folder(chain))
}

// cut writes a segment again without its entries up to a number. Lines that are not entries stay.
func cut(root *os.Root, chain fleet.Chain, file segment.File, through uint64) error {
	if file.Packed {
		return fmt.Errorf("%s is compressed and can only be removed as a whole", file.Name)
	}
	temporary := folder(chain) + "/cut.tmp"
	out, err := root.OpenFile(temporary, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	buffered := bufio.NewWriterSize(out, 64<<10)
	err = eachLine(root, file, func(line []byte) error {
		if entry, err := ledger.ParseLine(line); err == nil && entry.Seq <= through && entry.In(chain.Name) {
			return nil
		}
		_, _ = buffered.Write(line) // WriteByte returns the error
		return buffered.WriteByte('\n')
	})
	err = errors.Join(err, buffered.Flush())
	if err == nil {
		err = durable.SyncData(out)
	}
	if err = errors.Join(err, out.Close()); err == nil {
		err = root.Rename(temporary, file.Name)
	}
	if err != nil {
		return errors.Join(err, root.Remove(temporary))
	}
	return durable.SyncDir(root, folder(chain))
}
