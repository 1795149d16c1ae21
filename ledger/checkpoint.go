package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/candor-mcp/candor/internal/checkpoint"
	"github.com/candor-mcp/candor/internal/segment/format"
	"github.com/candor-mcp/candor/internal/storage"
)

// Limits on the entries that are not covered by a signed checkpoint.
const (
	maxUncovered     = 256
	checkpointWithin = time.Second
)

// signCheckpoint returns a C2SP checkpoint over the entries of a chain up to at, signed.
func signCheckpoint(signer note.Signer, chain string, at *position) ([]byte, error) {
	text := fmt.Sprintf("%s%s\n%d\n%s\nlast %s\ntime %s\n", format.Origin, chain, at.seq(), at.tree.Root(), at.last, at.time)
	signed, err := note.Sign(&note.Note{Text: text}, signer)
	if err != nil {
		return nil, fmt.Errorf("signing a checkpoint: %w", err)
	}
	return signed, nil
}

// notes is a file of signed checkpoints. It is guarded by the writer's lock.
type notes struct {
	file  storage.File
	watch storage.Watch
	size  int64 // end of the last whole block
	dirty bool  // written since the last sync
}

// append adds a block. If the write fails, append truncates the file to its previous size; if that fails too, sound
// is false.
func (n *notes) append(signed []byte) (sound bool, err error) {
	block := append(signed[:len(signed):len(signed)], format.BlockEnd...)
	n.dirty = true
	if _, err := n.file.Write(block); err != nil {
		undone := n.file.Truncate(n.size)
		return undone == nil, errors.Join(fmt.Errorf("writing a checkpoint: %w", err), undone)
	}
	n.size += int64(len(block))
	return true, nil
}

func (n *notes) sync() error {
	if !n.dirty {
		return nil
	}
	if err := n.file.Sync(); err != nil {
		return fmt.Errorf("syncing checkpoints: %w", err)
	}
	n.dirty = false
	return nil
}

// lastCheckpoint returns the size and the last hash of the newest whole checkpoint in a chain's file, or 0. It does not
// check the signature: its callers are on the safe side if they trust it.
func lastCheckpoint(files fs.FS, chain string) (size uint64, last format.Digest) {
	b, err := storage.ReadTail(files, chain+"/"+format.CheckpointsFile, 8<<10) // enough for several blocks
	if err != nil {
		return 0, last
	}
	blocks := strings.Split(string(b), "\n"+format.BlockEnd)
	for i := len(blocks) - 2; i >= 0; i-- { // after the last block end the file holds nothing, or the remains of a crash
		if c, err := checkpoint.ReadUnsigned(blocks[i] + "\n"); err == nil && c.Chain == chain {
			return uint64(c.Size), c.Last //nolint:gosec // it was read as a size
		}
	}
	return 0, last
}
