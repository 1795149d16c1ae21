package filestore

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/internal/durable"
	"github.com/candor-mcp/candor/ledger"
)

// Remove implements [fleet.Store]. It keeps the last entry of a chain, which is its head. Retention removes whole segments; a segment that
// is only partly removed is written again.
func (s *Store) Remove(ctx context.Context, chain fleet.Chain, through uint64) error {
	root, err := s.begin(ctx, chain, false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := root.Stat(folder(chain)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	state, unlock, err := s.lockChain(ctx, root, chain)
	if err != nil {
		return failed("removing entries of", chain, err)
	}
	if err = state.refresh(root, chain); err == nil {
		err = remove(ctx, root, chain, min(through, max(state.head.Seq, 1)-1))
		state.known = false
	}
	return failed("removing entries of", chain, errors.Join(err, unlock()))
}

func remove(ctx context.Context, root *os.Root, chain fleet.Chain, through uint64) error {
	files, err := segments(root, chain)
	if err != nil {
		return err
	}
	list := files.closed
	if files.active != nil {
		list = append(list, closedSegment{name: activeName(chain)})
	}
	for i, file := range list {
		if err := ctx.Err(); err != nil {
			return err
		}
		first, err := firstNumber(root, file)
		if err != nil {
			return err
		}
		if first == 0 || first > through {
			return nil
		}
		whole := false
		if i+1 < len(list) {
			next, err := firstNumber(root, list[i+1])
			if err != nil {
				return err
			}
			whole = next > 0 && next <= through+1
		}
		if !whole {
			return cut(root, chain, file, through)
		}
		if err := removeSegment(root, chain, file); err != nil {
			return err
		}
	}
	return nil
}

// removeSegment removes a closed segment in both its forms. The oldest is gone durably before the next one is removed.
func removeSegment(root *os.Root, chain fleet.Chain, file closedSegment) error {
	for _, name := range []string{closedName(chain, file.number), closedName(chain, file.number) + packedEnd} {
		if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return durable.SyncDir(root, folder(chain))
}

// cut writes a segment again without its entries up to a number. Lines that are not entries stay.
func cut(root *os.Root, chain fleet.Chain, file closedSegment, through uint64) error {
	if file.packed {
		return fmt.Errorf("%s is compressed and can only be removed as a whole", file.name)
	}
	temporary := folder(chain) + "/cut.tmp"
	out, err := root.OpenFile(temporary, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	buffered := bufio.NewWriterSize(out, 64<<10)
	err = eachLine(root, file, func(line []byte, _ int64) bool {
		if entry, err := ledger.ParseLine(line); err == nil && entry.Seq <= through && entry.In(chain.Name) {
			return true
		}
		_, _ = buffered.Write(line) // Flush returns the error
		return buffered.WriteByte('\n') == nil
	})
	err = errors.Join(err, buffered.Flush())
	if err == nil {
		err = durable.SyncData(out)
	}
	if err = errors.Join(err, out.Close()); err == nil {
		err = root.Rename(temporary, file.name)
	}
	if err != nil {
		return errors.Join(err, root.Remove(temporary))
	}
	return durable.SyncDir(root, folder(chain))
}
