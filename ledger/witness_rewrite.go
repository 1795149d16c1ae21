package ledger

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/candor-mcp/candor/ledger/internal/checkpoint"
	"github.com/candor-mcp/candor/ledger/internal/storage"
)

// maxOwnWitnessCopy is the size at which a witness copy that one ledger uses is rewritten with the newest checkpoint of
// each chain, which covers all earlier ones. At one checkpoint a second it is reached after about four hours.
const maxOwnWitnessCopy = 4 << 20

// Forget removes chains from a witness copy. It keeps the original file beside it, under the returned name. For each
// other chain the newest checkpoint is kept, which covers all earlier ones. Writers that have the file open notice
// the change and open the new file.
func Forget(place string, chains []string, now time.Time) (archive string, err error) {
	blocks, err := checkpoint.Newest(place, func(chain string) bool { return !slices.Contains(chains, chain) })
	if err != nil {
		return "", err
	}
	archive = place + ".forgotten-" + now.UTC().Format("20060102T150405Z")
	if err := copyDurably(place, archive); err != nil {
		return "", fmt.Errorf("copying the witness copy: %w", err)
	}
	s, err := storage.Open(filepath.Dir(place))
	if err != nil {
		return "", fmt.Errorf("opening the witness copy: %w", err)
	}
	if len(blocks) == 0 {
		err = errors.Join(s.Remove(filepath.Base(place)), s.SyncDir("."))
	} else {
		err = storage.WriteFile(s, filepath.Base(place), blocks, 0o600)
	}
	return archive, errors.Join(err, s.Close())
}

// copyDurably copies a file to a new one.
func copyDurably(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // it was only read
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if _, err = io.Copy(out, in); err == nil {
		err = out.Sync()
	}
	return errors.Join(err, out.Close())
}

// compact rewrites the file once it is too large. It also copies blocks that other writers append meanwhile. A block
// that is written to the old file even later is lost, but the next checkpoint of its chain covers the same entries.
func (p *witnessCopy) compact() error {
	if p.limit == 0 || p.file == nil {
		return nil
	}
	size, err := p.watch()
	if err != nil || size <= p.limit {
		return nil // a file that was removed is created again by the next checkpoint
	}
	p.limit = 2 * size // if it fails, do not try again immediately
	old, err := os.Open(p.path)
	if err != nil {
		return err
	}
	defer old.Close() //nolint:errcheck // it was only read
	blocks, err := checkpoint.Newest(p.path, func(string) bool { return true })
	if err != nil {
		return err
	}
	if err := storage.WriteFile(p.storage, p.name, blocks, 0o600); err != nil {
		return err
	}
	p.limit = max(maxOwnWitnessCopy, 2*int64(len(blocks)))
	if _, err := old.Seek(size, io.SeekStart); err != nil {
		return err
	}
	late, err := io.ReadAll(io.LimitReader(old, maxOwnWitnessCopy))
	if err != nil || len(late) == 0 {
		return err
	}
	if err := p.ready(); err != nil {
		return err
	}
	_, err = p.file.Write(late)
	p.dirty = true
	return err
}
