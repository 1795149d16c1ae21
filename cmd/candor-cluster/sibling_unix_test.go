//go:build unix

package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/candor-mcp/candor/cmd/internal/cli"
	"github.com/candor-mcp/candor/cmd/internal/cli/parquetfile"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
)

// TestMain runs this binary as candor or candor-cluster when it has that name.
func TestMain(m *testing.M) {
	switch filepath.Base(os.Args[0]) {
	case "candor":
		os.Exit(cli.Run(term.ProcessEnv(), os.Args[1:]))
	case "candor-cluster":
		main()
	}
	os.Exit(m.Run())
}

// install makes this binary available under a name.
func install(t *testing.T, path string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(self) // not a link, because its mode is changed
	if err == nil {
		err = os.WriteFile(path, program, 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// run runs a program and returns its exit code and outputs.
func run(t *testing.T, path string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, complaints bytes.Buffer
	cmd := exec.CommandContext(t.Context(), path, args...)
	cmd.Stdout, cmd.Stderr = &out, &complaints
	err := cmd.Run()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), complaints.String()
}

// TestCandorRunsTheClusterBesideIt checks that candor gives a command line that it cannot execute to the candor-cluster in its own
// folder, and only to one that it may trust.
func TestCandorRunsTheClusterBesideIt(t *testing.T) {
	dir := t.TempDir()
	candor, cluster := filepath.Join(dir, "candor"), filepath.Join(dir, "candor-cluster")
	install(t, candor)
	record(t, candor, filepath.Join(dir, "ledger"))

	t.Run("missing", func(t *testing.T) {
		other := elsewhere(t)
		t.Setenv("PATH", other+":"+os.Getenv("PATH"))
		t.Chdir(other)
		refused(t, candor, "candor-cluster: no such file")
	})
	install(t, cluster)
	t.Run("export", func(t *testing.T) { exports(t, candor, filepath.Join(dir, "ledger")) })
	t.Run("symbolic link", func(t *testing.T) {
		link := filepath.Join(t.TempDir(), "candor")
		if err := os.Symlink(candor, link); err != nil {
			t.Fatal(err)
		}
		exports(t, link, filepath.Join(dir, "ledger"))
	})
	t.Run("store", func(t *testing.T) { passes(t, candor) })
	t.Run("not executable", func(t *testing.T) {
		change(t, cluster, 0o600)
		refused(t, candor, "not executable")
	})
	t.Run("everybody may write it", func(t *testing.T) {
		change(t, cluster, 0o777)
		refused(t, candor, "every user may change it")
	})
	t.Run("another version", func(t *testing.T) {
		script(t, cluster, `echo '{"version":"1.2.4","go":"go1","os":"linux","arch":"amd64"}'`)
		refused(t, candor, "has version 1.2.4, this executable ")
	})
	t.Run("another program", func(t *testing.T) {
		script(t, cluster, `echo hello`)
		refused(t, candor, "not the output of candor")
	})
	t.Run("endless output", func(t *testing.T) {
		script(t, cluster, `exec yes`)
		refused(t, candor, "running "+cluster+" version --json")
	})
}

// record lets candor wrap record a failure: the server does not exist.
func record(t *testing.T, candor, dir string) {
	t.Helper()
	run(t, candor, "wrap", "--ledger", dir, "--", filepath.Join(dir, "no-such-server"))
	if _, err := os.Stat(dir); err != nil {
		t.Fatal(err)
	}
}

// elsewhere returns a folder with a candor-cluster that must not be run.
func elsewhere(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	script(t, filepath.Join(dir, "candor-cluster"), `echo '{"version":"1.2.3"}'`)
	return dir
}

func script(t *testing.T, path, text string) {
	t.Helper()
	_ = os.Remove(path)
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
}

func change(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

// refused checks that candor names the reason and the next step, for every way to need candor-cluster.
func refused(t *testing.T, candor, reason string) {
	t.Helper()
	for _, args := range [][]string{
		{"ledger", "export", "--format", "parquet"}, {"ledger", "verify", "nats://127.0.0.1:1"},
		{"wrap", "--ledger", "postgres://127.0.0.1:1/x", "--", "true"},
	} {
		code, stdout, stderr := run(t, candor, args...)
		if code != 2 || stdout != "" || !strings.Contains(stderr, reason) || !strings.Contains(stderr, "hint: put candor-cluster of the same version") {
			t.Errorf("candor %s: exit code %d, output %q\n%s", strings.Join(args, " "), code, stdout, stderr)
		}
	}
}

// exports checks that candor writes Parquet by means of candor-cluster.
func exports(t *testing.T, candor, ledger string) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out.parquet")
	if code, _, stderr := run(t, candor, "ledger", "export", "--ledger", ledger, "--format", "parquet", "--out", out); code != 0 {
		t.Fatalf("exit code %d\n%s", code, stderr)
	}
	rows, err := parquet.ReadFile[parquetfile.Row](out)
	if err != nil || len(rows) == 0 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(out), ".*")); err != nil || len(left) != 0 {
		t.Errorf("left beside the file: %v, %v", left, err)
	}
}

// passes checks that the arguments of a server's command are not taken for a store, and that the exit code is that of candor-cluster.
func passes(t *testing.T, candor string) {
	t.Helper()
	if _, _, stderr := run(t, candor, "wrap", "--ledger", "none", "--", "true", "nats://127.0.0.1:1"); strings.Contains(stderr, "candor-cluster") {
		t.Errorf("the argument of a server was taken for a store:\n%s", stderr)
	}
	code, _, stderr := run(t, candor, "ledger", "verify", "nats://127.0.0.1:1?node=n")
	if code == 0 || strings.Contains(stderr, "candor-cluster of the same version") {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
}
