package sqlitedb_test

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/sqlitedb"
	"github.com/candor-mcp/candor/cmd/internal/testing/smalldisk"
)

// smallDisk names the folder of a disk of 2 MiB in the process that TestFullDisk starts.
const smallDisk = "CANDOR_TEST_SMALL_DISK"

// TestFullDisk fills a disk that only a child process sees, and writes to a database on it.
func TestFullDisk(t *testing.T) {
	if dir := os.Getenv(smallDisk); dir != "" {
		fillDisk(t, dir)
		return
	}
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run=^TestFullDisk$", "-test.v")
	cmd.Env = append(os.Environ(), smallDisk+"="+dir)
	smalldisk.Mount(t, dir, 2)(cmd)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestFullDisk") {
		t.Errorf("%v: %s", err, out)
	}
}

func fillDisk(t *testing.T, dir string) {
	t.Helper()
	path := filepath.Join(dir, "data.db")
	pool := open(t, path, sqlitedb.Options{})
	mustExec(t, pool, "CREATE TABLE t(a)")
	alone, err := sqlitedb.Connect(context.Background(), path, sqlitedb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer alone.Close() //nolint:errcheck // it was used up
	filling, err := os.Create(filepath.Join(dir, "filling"))
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(filling, zeros{}) // until the disk is full
	_ = filling.Close()
	const insert = "INSERT INTO t VALUES(zeroblob(500000))"
	for name, run := range map[string]func() error{
		"pool":       func() error { _, err := pool.Exec(insert); return err },
		"connection": func() error { return alone.Exec(insert) },
	} {
		if err := run(); err == nil || sqlitedb.KindAt(err, path) != sqlitedb.Full {
			t.Errorf("%s: got %v, kind %d, want %d", name, err, sqlitedb.KindAt(err, path), sqlitedb.Full)
		}
	}
	if err := os.Remove(filling.Name()); err != nil {
		t.Fatal(err)
	}
	mustExec(t, pool, insert)
	if left, _ := filepath.Glob(filepath.Join(dir, ".space-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// zeros is a reader without an end.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }
