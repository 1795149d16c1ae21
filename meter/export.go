package meter

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/candor-mcp/candor/internal/durable"
)

// Export writes [Meter.Stats] as one line of JSON.
func (m *Meter) Export(w io.Writer) error {
	if _, err := w.Write(append(m.AppendStats(nil), '\n')); err != nil {
		return fmt.Errorf("exporting counters: %w", err)
	}
	return nil
}

// WriteFile atomically writes the output of [Meter.Export] to a file below root: after a crash the old or the new file
// exists. Only the owner can read it.
func (m *Meter) WriteFile(root *os.Root, name string) error {
	if err := durable.WriteFile(root, name, append(m.AppendStats(nil), '\n'), 0o600); err != nil {
		return fmt.Errorf("writing counters to %s: %w", name, err)
	}
	return nil
}

// Close writes the counters to [Options.File], if it is set. Call it last on a graceful shutdown. The meter remains usable, and
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

// checkFile returns an error if the counters cannot be written to path: its folder must exist, and the file must be regular or not exist.
// The empty path means no file.
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
