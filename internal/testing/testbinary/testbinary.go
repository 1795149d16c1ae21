// Package testbinary builds the candor command for tests that drive it as clients do.
package testbinary

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"github.com/candor-mcp/candor/internal/filelock"
)

// Run builds the command, stores its path and runs the tests. It keeps them out of the user's state folder and returns the exit code for
// [os.Exit]. race builds with the race detector.
func Run(m interface{ Run() int }, race bool, path *string) int {
	dir, err := os.MkdirTemp("", "candor")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	_ = os.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state")) // cannot fail: the name is valid
	*path = filepath.Join(dir, "candor")
	if err := Build(context.Background(), *path, race); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// Parallel raises the number of tests that run in parallel to n, unless -parallel was given. Tests that drive a program wait for it and for the
// disk most of the time. Call it after [flag.Parse] and before the tests run.
func Parallel(n int) {
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given && n > runtime.GOMAXPROCS(0) {
		_ = flag.Set("test.parallel", strconv.Itoa(n)) // cannot fail: the test binary has the flag
	}
}

// Build writes the command to path. The last binary is kept in the user's cache folder, where the go command links it again only if a
// source file has changed, so that the packages of one test run link it once.
func Build(ctx context.Context, path string, race bool) error {
	cache, err := os.UserCacheDir()
	if err != nil {
		return goBuild(ctx, path, race) // no home folder
	}
	name := "candor"
	if race {
		name = "candor-race"
	}
	kept := filepath.Join(cache, "candor", "testbinary", name)
	if err := os.MkdirAll(filepath.Dir(kept), 0o700); err != nil {
		return goBuild(ctx, path, race) // not writable
	}
	lock, err := acquire(ctx, filepath.Dir(kept), name+".lock")
	if err != nil {
		return fmt.Errorf("locking %s: %w", kept, err)
	}
	defer func() { _ = lock.Close() }()
	if err := goBuild(ctx, kept, race); err != nil {
		return err
	}
	// The go command replaces the file and never writes into it, so this link keeps its content.
	if os.Link(kept, path) == nil {
		return nil
	}
	return copyFile(path, kept)
}

func goBuild(ctx context.Context, path string, race bool) error {
	args := []string{"build", "-buildvcs=false", "-ldflags=-s -w", "-o", path}
	if race {
		args = append(args, "-race")
	}
	out, err := exec.CommandContext(ctx, "go", append(args, "github.com/candor-mcp/candor/cmd/candor")...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("building candor: %w\n%s", err, out)
	}
	return nil
}

// acquire waits until no other test binary holds the lock.
func acquire(ctx context.Context, dir, name string) (*os.File, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	return filelock.Wait(ctx, root, name, time.Hour)
}

func copyFile(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o700) //nolint:gosec // an executable
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
