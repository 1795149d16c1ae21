package meter

import (
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Export writes the counters as one line of JSON, as [Meter.Stats] has them.
func (m *Meter) Export(w io.Writer) error {
	if _, err := w.Write(append(m.AppendStats(nil), '\n')); err != nil {
		return fmt.Errorf("exporting counters: %w", err)
	}
	return nil
}

// WriteFile writes what [Meter.Export] does to a file below root, as a whole: after a crash there is the old file or the new
// one. Only the owner can read it.
func (m *Meter) WriteFile(root *os.Root, name string) error {
	draft := name + "." + rand.Text()
	if err := m.writeDraft(root, draft); err != nil {
		_ = root.Remove(draft) // it may not exist; the first error is the one to tell
		return fmt.Errorf("writing counters to %s: %w", name, err)
	}
	if err := root.Rename(draft, name); err != nil {
		_ = root.Remove(draft)
		return fmt.Errorf("writing counters to %s: %w", name, err)
	}
	return nil
}

func (m *Meter) writeDraft(root *os.Root, name string) (err error) {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if closing := f.Close(); err == nil {
			err = closing
		}
	}()
	if err := m.Export(f); err != nil {
		return err
	}
	return f.Sync()
}

// Close writes the counters to [Options.File], if there is one. Call it last on a graceful shutdown. The meter stays usable, and
// a later Close writes the file again.
func (m *Meter) Close() error {
	if m == nil || m.options.File == "" {
		return nil
	}
	folder, name := filepath.Split(m.options.File)
	root, err := os.OpenRoot(filepath.Clean(folder))
	if err != nil {
		return fmt.Errorf("writing counters: %w", err)
	}
	defer root.Close() //nolint:errcheck // nothing was written through it that its files did not sync
	return m.WriteFile(root, name)
}

// checkFile reports whether the counters can be written to a file: its folder exists, and the file is a regular one or does not exist.
// The empty path stands for no file.
func checkFile(path string) error {
	if path == "" {
		return nil
	}
	folder := filepath.Dir(path)
	info, err := os.Stat(folder)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a folder", filepath.Base(folder))
	}
	if info, err = os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file", filepath.Base(path))
	}
	return nil
}
