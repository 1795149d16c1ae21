package ledger

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/candor-mcp/candor/ledger/internal/format"
	"github.com/candor-mcp/candor/ledger/internal/storage"
)

// Limits on the entries that are not covered by a signed checkpoint.
const (
	maxUncovered     = 256
	checkpointWithin = time.Second
)

// treeHead is the signed content of a checkpoint: it covers the first size entries of a chain.
type treeHead struct {
	chain string
	size  uint64
	root  tlog.Hash
	last  format.Digest
	time  string
}

// text returns the C2SP checkpoint without signatures.
func (c treeHead) text() string {
	return fmt.Sprintf("%s%s\n%d\n%s\nlast %s\ntime %s\n", format.Origin, c.chain, c.size, c.root, c.last, c.time)
}

// sign returns the signed note.
func (c treeHead) sign(signer note.Signer) ([]byte, error) {
	signed, err := note.Sign(&note.Note{Text: c.text()}, signer)
	if err != nil {
		return nil, fmt.Errorf("signing a checkpoint: %w", err)
	}
	return signed, nil
}

// parseCheckpoint parses the text of a checkpoint, with or without signatures. It does not check the signatures.
func parseCheckpoint(text string) (treeHead, error) {
	text, _, _ = strings.Cut(text, "\n\n")
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) != 5 {
		return treeHead{}, errors.New("checkpoint: want 5 lines")
	}
	var c treeHead
	var err error
	var ok [4]bool
	c.chain, ok[0] = strings.CutPrefix(lines[0], format.Origin)
	last, hasLast := strings.CutPrefix(lines[3], "last ")
	ok[1] = hasLast && len(last) == 2*len(c.last) && format.ReadHex(c.last[:], []byte(last))
	c.time, ok[2] = strings.CutPrefix(lines[4], "time ")
	ok[3] = format.IsChainName(c.chain)
	if c.size, err = strconv.ParseUint(lines[1], 10, 63); err != nil || ok != [4]bool{true, true, true, true} {
		return treeHead{}, errors.New("checkpoint: malformed line")
	}
	if c.root, err = tlog.ParseHash(lines[2]); err != nil {
		return treeHead{}, fmt.Errorf("reading the root: %w", err)
	}
	return c, nil
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

// lastCheckpoint returns the newest whole checkpoint in a chain's file, or the zero treeHead. It does not check the
// signature: its callers are on the safe side if they trust it.
func lastCheckpoint(s storage.Storage, chain string) treeHead {
	name := chain + "/" + format.CheckpointsFile
	size, _, err := s.Stat(name)
	if err != nil || size == 0 {
		return treeHead{}
	}
	b := make([]byte, min(size, 8<<10)) // enough for several blocks
	if n, _ := s.ReadAt(name, b, size-int64(len(b))); n < len(b) {
		return treeHead{}
	}
	blocks := strings.Split(string(b), "\n"+format.BlockEnd)
	for i := len(blocks) - 2; i >= 0; i-- { // after the last block end the file holds nothing, or the remains of a crash
		if c, err := parseCheckpoint(blocks[i] + "\n"); err == nil && c.chain == chain {
			return c
		}
	}
	return treeHead{}
}
