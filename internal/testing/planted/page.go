package planted

import (
	"io/fs"
	"os"
	"strings"
	"sync"
)

// Page is a text that many may write at once, such as a log. The zero value is empty.
type Page struct {
	mu   sync.Mutex
	text strings.Builder // guarded by mu
}

// Write adds to the text. It never fails.
func (p *Page) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(b)
}

// String returns all that was written.
func (p *Page) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

// Files returns the bytes of all files below a folder.
func Files(dir string) (string, error) {
	var all strings.Builder
	root := os.DirFS(dir)
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(root, name)
		all.Write(b)
		return err
	})
	return all.String(), err
}
