package ledger

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// How far the signatures may lag behind the entries.
const (
	maxUncovered     = 256
	checkpointWithin = time.Second
	noteOrigin       = "candor-ledger/"
	blockEnd         = "---\n"
)

// checkpoint is what is signed: all entries of a chain up to some size.
type checkpoint struct {
	chain string
	size  uint64
	root  tlog.Hash
	last  Digest
	time  string
}

// text is the C2SP checkpoint, without signatures.
func (c checkpoint) text() string {
	return fmt.Sprintf("%s%s\n%d\n%s\nlast %s\ntime %s\n", noteOrigin, c.chain, c.size, c.root, c.last, c.time)
}

// sign returns the signed note.
func (c checkpoint) sign(signer note.Signer) ([]byte, error) {
	signed, err := note.Sign(&note.Note{Text: c.text()}, signer)
	if err != nil {
		return nil, fmt.Errorf("signing a checkpoint: %w", err)
	}
	return signed, nil
}

// parseCheckpoint reads the text of a checkpoint, with or without signatures, which it does not look at.
func parseCheckpoint(text string) (checkpoint, error) {
	text, _, _ = strings.Cut(text, "\n\n")
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) != 5 {
		return checkpoint{}, errors.New("a checkpoint has five lines")
	}
	var c checkpoint
	var err error
	var ok [4]bool
	c.chain, ok[0] = strings.CutPrefix(lines[0], noteOrigin)
	last, hasLast := strings.CutPrefix(lines[3], "last ")
	ok[1] = hasLast && len(last) == 2*len(c.last) && readHex(c.last[:], []byte(last))
	c.time, ok[2] = strings.CutPrefix(lines[4], "time ")
	ok[3] = isChainName(c.chain)
	if c.size, err = strconv.ParseUint(lines[1], 10, 63); err != nil || ok != [4]bool{true, true, true, true} {
		return checkpoint{}, errors.New("a line of the checkpoint is not as it should be")
	}
	if c.root, err = tlog.ParseHash(lines[2]); err != nil {
		return checkpoint{}, fmt.Errorf("reading the root: %w", err)
	}
	return c, nil
}

// notes is a file of signed checkpoints. It is guarded by the writer's lock.
type notes struct {
	file  file
	watch watch
	size  int64 // end of the last whole block
	dirty bool  // written since the last sync
}

// append adds a block, or nothing: what was written of a block that failed is taken back. If that fails too the file is not sound.
func (n *notes) append(signed []byte) (sound bool, err error) {
	block := append(signed[:len(signed):len(signed)], blockEnd...)
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

// lastCheckpoint returns the newest whole block of a chain's file, or a zero one. Its signature is not checked: what it is used for here
// errs on the side of taking it at its word.
func lastCheckpoint(s storage, chain string) checkpoint {
	name := chain + "/" + notesFile
	size, _, err := s.Stat(name)
	if err != nil || size == 0 {
		return checkpoint{}
	}
	b := make([]byte, min(size, 8<<10)) // several blocks
	if n, _ := s.ReadAt(name, b, size-int64(len(b))); n < len(b) {
		return checkpoint{}
	}
	blocks := strings.Split(string(b), "\n"+blockEnd)
	for i := len(blocks) - 2; i >= 0; i-- { // behind the last end stands nothing, or what a crash left
		if c, err := parseCheckpoint(blocks[i] + "\n"); err == nil && c.chain == chain {
			return c
		}
	}
	return checkpoint{}
}
