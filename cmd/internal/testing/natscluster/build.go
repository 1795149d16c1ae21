package natscluster

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

const serverModule = "github.com/nats-io/nats-server/v2"

// build returns the path of a nats-server of the version that go.mod names. It is kept in the user's cache folder, because linking it
// takes seconds.
var build = sync.OnceValues(func() (string, error) {
	version, err := run("go", "list", "-m", "-f", "{{.Version}}", serverModule)
	if err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "candor", "tests")
	path := filepath.Join(dir, "nats-server-"+version+"-"+runtime.Version())
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	scratch := fmt.Sprintf("%s.%d", path, os.Getpid())
	if _, err := run("go", "build", "-o", scratch, serverModule); err != nil {
		return "", err
	}
	return path, os.Rename(scratch, path) // other test processes never see a part of it
})

// Executable returns the path of the nats-server that tests use.
func Executable(t testing.TB) string {
	t.Helper()
	path, err := build()
	if err != nil {
		t.Fatalf("building nats-server: %v", err)
	}
	return path
}

func run(name string, args ...string) (string, error) {
	out, err := exec.CommandContext(context.Background(), name, args...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out)), nil
}
