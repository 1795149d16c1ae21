package ledger

import (
	"io"
	"os"

	"github.com/candor-mcp/candor/internal/checkpoint"
	"github.com/candor-mcp/candor/internal/storage"
)

// maxOwnWitnessCopy is the size at which a witness copy that one ledger uses is rewritten with the newest checkpoint of
// each chain, which covers all earlier ones. At one checkpoint a second it is reached after about four hours.
const maxOwnWitnessCopy = 4 << 20

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
	blocks, err := checkpoint.Newest(p.path)
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
