package gatewaycmd

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/gateway/config"
)

// watchInterval is the time between two looks at the watched files. A change is used when two looks have found the same: at least one
// interval after the last write, so that a file that is being written is rarely read.
const watchInterval = 500 * time.Millisecond

// watchedFiles notices changes of the files that a configuration was read from. It compares what the system says about each file,
// following symbolic links: an editor that replaces a file, and Kubernetes, which replaces the link to a folder, change the file's
// identity; a program that writes into it changes its time or its size. The zero value is ready to use.
type watchedFiles struct {
	files   map[string]watchedFile // by name
	pending map[string]os.FileInfo // state at the last look, if it differed
}

// watchedFile is a file as it was when it was read.
type watchedFile struct {
	info os.FileInfo // nil if there was none
	sum  [sha256.Size]byte
}

// read is [config.ReadFile] for a file that is watched from now on.
func (w *watchedFiles) read(name string) ([]byte, error) {
	info, _ := os.Stat(name) // reported by ReadFile; before it, so that a later change is noticed
	data, err := config.ReadFile(name)
	if w.files == nil {
		w.files = map[string]watchedFile{}
	}
	kept := watchedFile{info: info, sum: sha256.Sum256(data)}
	if err != nil {
		kept.sum = sha256.Sum256([]byte(err.Error()))
	}
	w.files[name] = kept
	return data, err
}

// forget ends the watch, before the files are read again.
func (w *watchedFiles) forget() { w.files, w.pending = nil, nil }

// changed reports whether a file has changed since it was read, and not since the last look.
func (w *watchedFiles) changed() bool {
	now, same, settled := map[string]os.FileInfo{}, true, w.pending != nil
	for name, kept := range w.files {
		info, _ := os.Stat(name) // nil if it cannot be read
		now[name] = info
		same = same && isSame(info, kept.info)
		settled = settled && isSame(info, w.pending[name])
	}
	if same {
		w.pending = nil
		return false
	}
	w.pending = now
	return settled
}

// isSame reports whether a file is the same and was not written to. Both are nil for a file that does not exist.
func isSame(a, b os.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}

// digest identifies the content of all files.
func (w *watchedFiles) digest() [sha256.Size]byte {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(w.files)) {
		fmt.Fprintf(h, "%q %x\n", name, w.files[name].sum)
	}
	return [sha256.Size]byte(h.Sum(nil))
}
