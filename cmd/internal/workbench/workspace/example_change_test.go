package workspace_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/workbench/workspace"
)

// A complete change: read, stage, commit, and either undo or keep.
func Example_change() {
	top, err := os.MkdirTemp("", "example-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(top) //nolint:errcheck // an example
	if err := change(top); err != nil {
		fmt.Println(err)
	}
	// Output:
	// hello, world
	// kept: false
}

func change(top string) error {
	proj, stateDir := filepath.Join(top, "proj"), filepath.Join(top, "state")
	made := errors.Join(os.Mkdir(proj, 0o755), os.Mkdir(stateDir, 0o700), os.WriteFile(filepath.Join(proj, "greeting"), []byte("hello"), 0o600))
	folder, errFolder := workspace.Open(proj, workspace.Options{})
	state, errState := os.OpenRoot(stateDir)
	if err := errors.Join(made, errFolder, errState); err != nil {
		return err
	}
	lock, err := workspace.Lock(context.Background(), state, time.Second)
	if err != nil {
		return err
	}
	defer lock.Close() //nolint:errcheck // an example
	path, err := folder.Parse("greeting")
	if err != nil {
		return err
	}
	before, err := folder.Read(path)
	if err != nil {
		return err
	}
	staged, err := folder.Stage(state, "change-1", []workspace.Change{{Path: path, Before: &before, After: []byte("hello, world")}}, nil)
	if err != nil {
		return err
	}
	if err := staged.Commit(context.Background()); err != nil {
		return errors.Join(err, staged.Done())
	}
	now, err := folder.Read(path)
	fmt.Println(string(now.Content))
	undone := staged.Undo() // the checks failed
	last, errLast := folder.Read(path)
	fmt.Println("kept:", last.Hash != before.Hash)
	return errors.Join(err, undone, errLast, staged.Done(), folder.Close(), state.Close())
}
