package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// How far the signatures may lag behind the entries.
const (
	maxUncovered = 256
	noteOrigin   = "candor-ledger/"
	blockEnd     = "---\n"
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

// secondFile is the file that the operator named. Its troubles are reported and never stop the ledger. Others may append to it too, so it
// is never cut. It is guarded by the writer's lock.
type secondFile struct {
	storage storage // nil if there is no second place
	name    string
	file    file // nil until it is used, and again after a failure
	dirty   bool
}

func newSecondFile(o *Options) (*secondFile, error) {
	if o.SecondPlace == "" {
		return &secondFile{}, nil
	}
	if o.second != nil {
		return &secondFile{storage: o.second, name: o.SecondPlace}, nil
	}
	s, err := openStorage(filepath.Dir(o.SecondPlace))
	if err != nil {
		return nil, fmt.Errorf("opening the second place: %w", err)
	}
	return &secondFile{storage: s, name: filepath.Base(o.SecondPlace)}, nil
}

// append adds a block in one write, so that the blocks of several writers do not mix.
func (p *secondFile) append(signed []byte) error {
	if p.storage == nil {
		return nil
	}
	if p.file == nil {
		if err := p.open(); err != nil {
			return err
		}
	}
	block := append(signed[:len(signed):len(signed)], blockEnd...)
	if _, err := p.file.Write(block); err != nil {
		return p.lose(err)
	}
	p.dirty = true
	return nil
}

// open opens or makes the file. A block that an earlier crash left unfinished is ended, so that the next one is whole.
func (p *secondFile) open() error {
	f, err := p.storage.OpenAppend(p.name)
	if errors.Is(err, fs.ErrNotExist) {
		if f, err = p.storage.Create(p.name, 0o600); err == nil {
			err = p.storage.SyncDir(".")
		}
	}
	if err != nil {
		return fmt.Errorf("opening the second place: %w", err)
	}
	p.file = f
	size, _, err := p.storage.Stat(p.name)
	if err != nil || size == 0 {
		return err
	}
	tail := make([]byte, min(size, int64(len("\n"+blockEnd))))
	if _, err := p.storage.ReadAt(p.name, tail, size-int64(len(tail))); err != nil {
		return p.lose(err)
	}
	if missing := missingEnd(string(tail)); missing != "" {
		if _, err := f.Write([]byte(missing)); err != nil {
			return p.lose(err)
		}
	}
	return nil
}

// missingEnd returns what ends the block that a file ends in. No line of a checkpoint begins as the border does.
func missingEnd(tail string) string {
	for n := len(blockEnd); n >= 0; n-- {
		if strings.HasSuffix(tail, "\n"+blockEnd[:n]) {
			return blockEnd[n:]
		}
	}
	return "\n" + blockEnd
}

func (p *secondFile) sync() error {
	if p.file == nil || !p.dirty {
		return nil
	}
	p.dirty = false
	if err := p.file.Sync(); err != nil {
		return p.lose(err)
	}
	return nil
}

// lose gives the file up; the next checkpoint opens it anew.
func (p *secondFile) lose(err error) error {
	err = errors.Join(fmt.Errorf("writing to the second place: %w", err), p.file.Close())
	p.file = nil
	return err
}

func (p *secondFile) close() error {
	if p.storage == nil {
		return nil
	}
	err := p.sync()
	if p.file != nil {
		err = errors.Join(err, p.file.Close())
	}
	return errors.Join(err, p.storage.Close())
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
