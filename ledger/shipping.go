package ledger

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/candor-mcp/candor/internal/segment/format"
	"github.com/candor-mcp/candor/internal/storage"
)

// A ledger may be shipped: another process or another part of this one copies the entries to a store. The folder then
// has a file for that, and each chain has a file with the last entry that the store has. Retention reads them.

// shipped is the last entry of a chain that a store has acknowledged, as its file holds it. The file of the folder has only
// the store.
type shipped struct {
	Seq   uint64 `json:"seq"`
	Store string `json:"id"`
}

// isShipped reports whether the entries of the folder are copied to a store. If that is unknown, they are.
func isShipped(s storage.Storage) bool {
	_, err := fs.Stat(s.Files(), format.ShippingFile)
	return !errors.Is(err, fs.ErrNotExist)
}

// lastShipped returns the number of the last entry that the store has; 0 if it has none, if that is unknown, or if only an
// earlier store has it.
func lastShipped(s storage.Storage, chain string) uint64 {
	at, err := readShipped(s, chain+"/"+format.ShippedFile)
	to, other := readShipped(s, format.ShippingFile)
	if err != nil || other != nil || at.Store != to.Store {
		return 0
	}
	return at.Seq
}

func readShipped(s storage.Storage, name string) (at shipped, err error) {
	b, err := storage.ReadSmall(s.Files(), name, format.MaxKeyFile)
	if err == nil {
		err = json.Unmarshal(b, &at)
	}
	return at, err
}

// keepUnshipped limits the segments that may be removed to those whose entries the store has.
func (c *heldChain) keepUnshipped(s storage.Storage) {
	stored := lastShipped(s, c.name)
	c.limit = 0
	for n := len(c.files); n > 0 && c.limit == 0; n-- {
		if n == len(c.files) && c.ended && c.end.How == "" {
			continue // it was not recovered yet, so its last entry is unknown
		}
		c.remove = n
		if last, err := c.lastRemoved(s); err == nil && last.Size <= stored {
			c.limit = c.remove
		}
	}
	c.remove = 0
}

// Durable returns the number of the last entry of a chain that is known to be durable, and whether the chain has ended
// and gets no more entries. Entries of a chain that another process is writing are known to be durable when a
// checkpoint covers them.
func (r *Reader) Durable(chain string) (seq uint64, ended bool, err error) {
	if !format.LooksLikeChain(chain) {
		return 0, false, fmt.Errorf("%q is not the name of a chain", chain)
	}
	if _, err := fs.Stat(r.fsys, chain); err != nil {
		return 0, false, err
	}
	if end, ok := readEnd(r.fsys, chain); ok {
		return end.Size, true, nil
	}
	seq, _ = lastCheckpoint(r.fsys, chain)
	return seq, false, nil
}
