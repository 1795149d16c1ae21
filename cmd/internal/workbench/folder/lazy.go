package folder

import (
	"fmt"
	"os"
	"sync"
)

// Lazy is a directory that is opened when it is first needed.
type Lazy struct {
	Path   string // absolute
	Create bool   // create it, for its owner only, if it does not exist
	// Private directories are not entered; see [Open].
	Private []string

	mu     sync.Mutex
	folder *Folder
	closed bool
}

// Check returns an error if the path cannot be used. It changes nothing.
func (l *Lazy) Check() error {
	info, err := os.Stat(l.Path)
	switch {
	case err != nil && l.Create && os.IsNotExist(err):
		return nil
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%q: not a folder", l.Path)
	}
	return nil
}

// Get returns the directory. If opening fails, the next call tries again.
func (l *Lazy) Get() (*Folder, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
		return nil, os.ErrClosed
	case l.folder != nil:
		return l.folder, nil
	}
	if l.Create {
		if err := os.MkdirAll(l.Path, 0o700); err != nil {
			return nil, err
		}
	}
	folder, err := Open(l.Path, l.Private...)
	l.folder = folder
	return folder, err
}

// Close closes the directory if it was opened.
func (l *Lazy) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	if l.folder == nil {
		return nil
	}
	return l.folder.Close()
}
