package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/candor-mcp/candor/ledger/internal/format"
	"github.com/candor-mcp/candor/ledger/internal/storage"
)

// secondFile is the second place: a file that several writers append their checkpoints to, so that it is never cut; see compact for how one
// of a single ledger is kept small. Failures are reported
// and never stop the ledger; the next checkpoint, which covers all before it, opens the file anew. It is guarded by the writer's lock.
type secondFile struct {
	path    string          // "" if there is no second place
	storage storage.Storage // nil until its folder could be opened
	name    string
	file    storage.File // nil until it is used, and again after a failure
	watch   storage.Watch
	dirty   bool
	failing bool  // the operator has been warned
	limit   int64 // the size at which the file is rewritten; 0 is never

	wait time.Duration // how long an operation may take; 0 runs it on the caller's goroutine
	busy atomic.Bool   // an operation is at work, on a goroutine that alone uses the fields above, but for path and failing
}

// secondWait is how long the ledger waits for the second place: it may lie on a mount that stalls.
const secondWait = 2 * time.Second

// errStalled says that the second place does not answer.
var errStalled = errors.New("the witness copy does not respond")

// within runs an operation on the file and waits for it, but not for long. While one is still at work others fail at once.
func (p *secondFile) within(f func() error) error {
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
func (p *secondFile) unsynced() bool { return !p.busy.Load() && p.dirty }

// end closes the file. One that does not answer is left to the end of the process; the operator has been warned.
func (p *secondFile) end() error {
	if err := p.within(p.close); !errors.Is(err, errStalled) {
		return err
	}
	return nil
}

func newSecondFile(o *Options) *secondFile {
	p := &secondFile{path: o.SecondPlace, storage: o.second, name: o.SecondPlace}
	if p.path == "" || p.storage != nil {
		return p
	}
	if full, err := filepath.Abs(p.path); err == nil { // it fails only without a working folder
		p.path = full
	}
	p.name, p.wait = filepath.Base(p.path), secondWait
	if o.OwnSecondPlace {
		p.limit = maxOwnSecond
	}
	return p
}

// append adds a block in one write, so that the blocks of several writers do not mix.
func (p *secondFile) append(signed []byte) error {
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

// ready opens the file, or opens it again if it is not at its path any more.
func (p *secondFile) ready() error {
	if p.file != nil {
		if _, err := p.watch(); err == nil {
			return nil
		}
		_ = p.file.Close() // it was removed; what it held is gone with it
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

// open opens or makes the file. A block that an earlier crash left unfinished is ended, so that the next one is whole.
func (p *secondFile) open() error {
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

func (p *secondFile) endBlock() error {
	size, _, err := p.storage.Stat(p.name)
	if err != nil || size == 0 {
		return err
	}
	tail := make([]byte, min(size, int64(len("\n"+format.BlockEnd))))
	if _, err := p.storage.ReadAt(p.name, tail, size-int64(len(tail))); err != nil {
		return err
	}
	missing := missingEnd(string(tail))
	if missing == "" {
		return nil
	}
	_, err = p.file.Write([]byte(missing))
	return err
}

// missingEnd returns what ends the block that a file ends in. No line of a checkpoint begins as the border does.
func missingEnd(tail string) string {
	for n := len(format.BlockEnd); n >= 0; n-- {
		if strings.HasSuffix(tail, "\n"+format.BlockEnd[:n]) {
			return format.BlockEnd[n:]
		}
	}
	return "\n" + format.BlockEnd
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
	err = errors.Join(fmt.Errorf("writing to the witness copy: %w", err), p.file.Close())
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

// reportSecond warns when the second place begins to fail and when it works again, not once for every checkpoint.
func (w *writer) reportSecond(err error) {
	p := w.second
	switch {
	case err != nil && !p.failing:
		w.ledger.warner.warn(warningSecondPlace, "checkpoints are not written to the witness copy "+p.path+"; each new checkpoint tries again", err)
	case err == nil && p.failing:
		w.ledger.warner.warn(warningSecondPlace, "checkpoints are written to the witness copy "+p.path+" again", nil)
	}
	p.failing = err != nil
}
