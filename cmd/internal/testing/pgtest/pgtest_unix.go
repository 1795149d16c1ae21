//go:build unix

// Package pgtest starts a PostgreSQL server for tests, from the packages of the system.
package pgtest

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// Server is a running server. Its superuser is "admin" and connects without a password; the ordinary role "reader" has the password
// "hunter2-reader" and owns the database "shop".
type Server struct {
	Socket string // folder of its socket
}

// URL returns the address of the database shop for a role.
func (s *Server) URL(role, password string) string {
	return fmt.Sprintf("postgres://%s:%s@/shop?host=%s&sslmode=disable", role, password, s.Socket)
}

// Start starts a server that ends with the test. The test is skipped if PostgreSQL is not installed.
func Start(t testing.TB) *Server {
	t.Helper()
	bin := programs(t)
	dir, err := os.MkdirTemp("", "pg") // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	identity := ordinaryUser(t, dir)
	command := func(name string, args ...string) *exec.Cmd {
		cmd := exec.Command(filepath.Join(bin, name), args...) //nolint:noctx // the cleanup ends the server
		cmd.Dir, cmd.SysProcAttr = dir, identity
		cmd.Env = append(os.Environ(), "LC_ALL=C", "HOME="+dir)
		return cmd
	}
	data := filepath.Join(dir, "data")
	run(t, command("initdb", "-D", data, "-U", "admin", "-A", "trust", "-E", "UTF8", "--no-sync"))
	rules := "local all admin trust\nlocal all all scram-sha-256\n"
	if err := os.WriteFile(filepath.Join(data, "pg_hba.conf"), []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	server := command("postgres", "-D", data, "-c", "listen_addresses=", "-c", "unix_socket_directories="+dir, "-c", "fsync=off")
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Signal(syscall.SIGINT) // fast shutdown
		_ = server.Wait()
	})
	for deadline := time.Now().Add(time.Minute); command("pg_isready", "-q", "-h", dir).Run() != nil; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the PostgreSQL server does not start")
		}
	}
	for _, text := range []string{"CREATE ROLE reader LOGIN PASSWORD 'hunter2-reader'", "CREATE DATABASE shop OWNER reader"} {
		run(t, command("psql", "-h", dir, "-U", "admin", "-d", "postgres", "-qc", text))
	}
	return &Server{Socket: dir}
}

// programs returns the folder of the programs of PostgreSQL.
func programs(t testing.TB) string {
	t.Helper()
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb") // the pattern is valid
	if len(found) > 0 {
		return filepath.Dir(slices.Max(found))
	}
	if path, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(path)
	}
	t.Skip("PostgreSQL is not installed")
	return ""
}

// ordinaryUser returns the identity that the server runs under: PostgreSQL refuses root.
func ordinaryUser(t testing.TB, dir string) *syscall.SysProcAttr {
	t.Helper()
	if os.Getuid() != 0 {
		return nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, _ := strconv.ParseUint(u.Uid, 10, 32) // numbers on Unix
		gid, _ := strconv.ParseUint(u.Gid, 10, 32)
		if err := os.Chown(dir, int(uid), int(gid)); err != nil {
			t.Fatal(err)
		}
		return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	}
	t.Skip("PostgreSQL does not run as root, and there is no other user")
	return nil
}

func run(t testing.TB, cmd *exec.Cmd) {
	t.Helper()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", filepath.Base(cmd.Path), err, out)
	}
}
