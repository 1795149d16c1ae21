package conformance

import (
	"context"
	"os"
	"path/filepath"
)

// Stage copies the scripts into dir, beside the packages they import, and returns the command line that runs the first
// script. The error is a [MissingError] if something is not installed.
func (b Toolbox) Stage(ctx context.Context, p Package, dir string, scripts ...string) ([]string, error) {
	return b.stage(ctx, p, dir, os.ReadFile, scripts...)
}

func (b Toolbox) stage(ctx context.Context, p Package, dir string, read func(string) ([]byte, error), scripts ...string) ([]string, error) {
	node, err := b.Node(ctx)
	if err != nil {
		return nil, err
	}
	modules, err := b.Modules(p)
	if err != nil {
		return nil, err
	}
	for _, script := range scripts {
		text, err := read(script)
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

// Inspector returns the command line of the inspector without a window, as npx would start it; the caller appends
// options. The error is a [MissingError] if something is not installed.
func (b Toolbox) Inspector(ctx context.Context) ([]string, error) {
	node, err := b.Node(ctx)
	if err != nil {
		return nil, err
	}
	modules, err := b.Modules(Inspector)
	if err != nil {
		return nil, err
	}
	return []string{node, filepath.Join(modules, ".bin", "inspector"), "--cli"}, nil
}
