package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/candor-mcp/candor/internal/segment/format"
	"github.com/candor-mcp/candor/internal/storage"
)

// witnessCopy is the witness copy. Several writers append their checkpoints to it, so it is never truncated; compact
// limits the size of a file that only one ledger uses. Failures are reported and never stop the ledger; the next
// checkpoint, which covers all earlier ones, opens the file again. It is guarded by the writer's lock.
type witnessCopy struct {
	path    string          // "" if there is no witness copy
	storage storage.Storage // nil until its folder could be opened
	name    string
	file    storage.File // nil until it is used, and again after a failure
	watch   storage.Watch
	dirty   bool
	failing bool  // the operator has been warned
	limit   int64 // the size at which the file is rewritten; 0 means never

	wait time.Duration // time limit of an operation; 0 runs it on the caller's goroutine
	busy atomic.Bool   // an operation is running, on a goroutine that owns the fields above except path and failing
}

// witnessWait limits how long the ledger waits for the witness copy, which may be on a mount that stalls.
const witnessWait = 2 * time.Second

// errStalled means that the witness copy does not respond.
var errStalled = errors.New("the witness copy does not respond")

// within runs an operation on the file and waits for it for at most p.wait. While an operation is still running,
// others fail with errStalled.
func (p *witnessCopy) within(f func() error) error {
	if p.path == "" || p.wait == 0 {
		return f()
	}
	if !p.busy.CompareAndSwap(false, true) {
		return errStalled
	}
	done := make(chan error, 1)
	go func() {
		err := f()
		p.busy.Store(false)
		done <- err
	}()
	timer := time.NewTimer(p.wait)
	defer timer.Stop()
	select {
	case err := <-done:
		return err
	case <-timer.C:
		return errStalled
	}
}

// unsynced reports whether blocks were written that are not durable yet.
func (p *witnessCopy) unsynced() bool { return !p.busy.Load() && p.dirty }

// end closes the file. A file that does not respond is left open until the process exits; the operator has already
// been warned.
func (p *witnessCopy) end() error {
	if err := p.within(p.close); !errors.Is(err, errStalled) {
		return err
	}
	return nil
}

func newWitnessCopy(o *Options) *witnessCopy {
	p := &witnessCopy{path: o.WitnessCopy, storage: o.witnessStorage, name: o.WitnessCopy}
	if p.path == "" || p.storage != nil {
		return p
	}
	if full, err := filepath.Abs(p.path); err == nil { // fails only if there is no working directory
		p.path = full
	}
	p.name, p.wait = filepath.Base(p.path), witnessWait
	if o.OwnWitnessCopy {
		p.limit = maxOwnWitnessCopy
	}
	return p
}

// append adds a block in one write, so that the blocks of several writers do not interleave.
func (p *witnessCopy) append(signed []byte) error {
	if p.path == "" {
		return nil
	}
	if err := p.ready(); err != nil {
		return err
	}
	block := append(signed[:len(signed):len(signed)], format.BlockEnd...)
	if _, err := p.file.Write(block); err != nil {
		return p.lose(err)
	}
	p.dirty = true
	return nil
}

// ready opens the file, or opens it again if it is no longer at its path.
func (p *witnessCopy) ready() error {
	if p.file != nil {
		if _, err := p.watch(); err == nil {
			return nil
		}
		_ = p.file.Close() // it was removed together with its content
		p.file = nil
	}
	if p.storage == nil {
		s, err := storage.Open(filepath.Dir(p.path))
		if err != nil {
			return fmt.Errorf("opening the witness copy: %w", err)
		}
		p.storage = s
	} else if _, err := p.storage.Reopen(); err != nil {
		return fmt.Errorf("opening the witness copy: %w", err)
	}
	return p.open()
}

// open opens or creates the file. It completes a block that a crash left unfinished, so that the next block is
// intact.
func (p *witnessCopy) open() error {
	f, err := p.storage.OpenAppend(p.name)
	if errors.Is(err, fs.ErrNotExist) {
		if f, err = p.storage.Create(p.name, 0o600); err == nil {
			err = p.storage.SyncDir(".")
		}
	}
	if err == nil {
		p.watch, err = p.storage.Watch(p.name)
	}
	if err != nil {
		if f != nil {
			err = errors.Join(err, f.Close())
		}
		return fmt.Errorf("opening the witness copy: %w", err)
	}
	p.file = f
	if err := p.endBlock(); err != nil {
		return p.lose(err)
	}
	return nil
}

func (p *witnessCopy) endBlock() error {
	tail, err := storage.ReadTail(p.storage.Files(), p.name, int64(len("\n"+format.BlockEnd)))
	if err != nil || len(tail) == 0 {
		return err
	}
	missing := missingEnd(string(tail))
	if missing == "" {
		return nil
	}
	_, err = p.file.Write([]byte(missing))
	return err
}

// missingEnd returns the bytes that complete the last block of a file. No line of a checkpoint begins as the block
// end does.
func missingEnd(tail string) string {
	for n := len(format.BlockEnd); n >= 0; n-- {
		if strings.HasSuffix(tail, "\n"+format.BlockEnd[:n]) {
			return format.BlockEnd[n:]
		}
	}
	return "\n" + format.BlockEnd
}

func (p *witnessCopy) sync() error {
	if p.file == nil || !p.dirty {
		return nil
	}
	p.dirty = false
	if err := p.file.Sync(); err != nil {
		return p.lose(err)
	}
	return nil
}

// lose closes the file after an error; the next checkpoint opens it again.
func (p *witnessCopy) lose(err error) error {
	err = errors.Join(fmt.Errorf("writing to the witness copy: %w", err), p.file.Close())
	p.file = nil
	return err
}

func (p *witnessCopy) close() error {
	if p.storage == nil {
		return nil
	}
	err := p.sync()
	if p.file != nil {
		err = errors.Join(err, p.file.Close())
	}
	return errors.Join(err, p.storage.Close())
}

// reportWitness warns when writing to the witness copy begins to fail and when it works again, not for every
// checkpoint.
func (w *writer) reportWitness(err error) {
	p := w.witness
	switch {
	case err != nil && !p.failing:
		w.ledger.warner.warn(warningWitnessCopy, "checkpoints are not written to the witness copy "+p.path+"; each new checkpoint tries again", err)
	case err == nil && p.failing:
		w.ledger.warner.warn(warningWitnessCopy, "checkpoints are written to the witness copy "+p.path+" again", nil)
	}
	p.failing = err != nil
}
