package conformance

import (
	"context"
	"os"
	"path/filepath"
)

// Stage copies the scripts into dir, beside the packages they import, and returns the command line that runs the first of them.
// The error is a [MissingError] if something is not installed.
func (b Toolbox) Stage(ctx context.Context, p Package, dir string, scripts ...string) ([]string, error) {
	node, err := b.Node(ctx)
	if err != nil {
		return nil, err
	}
	modules, err := b.Modules(p)
	if err != nil {
		return nil, err
	}
	for _, script := range scripts {
		text, err := os.ReadFile(script)
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(script)), text, 0o600); err != nil {
			return nil, err
		}
	}
	if err := os.Symlink(modules, filepath.Join(dir, "node_modules")); err != nil {
		return nil, err
	}
	return []string{node, filepath.Join(dir, filepath.Base(scripts[0]))}, nil
}
