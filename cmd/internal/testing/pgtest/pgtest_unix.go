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
	"strings"
	"syscall"
	"testing"

	"github.com/candor-mcp/candor/internal/tail"
	"github.com/candor-mcp/candor/internal/testing/wait"
)

// Server is a server. Its superuser is "admin" and connects without a password; the ordinary role "reader" has the password
// "hunter2-reader" and owns the database "shop".
type Server struct {
	Socket string // folder of its socket

	programs string
	identity *syscall.SysProcAttr
	settings []string
	running  *exec.Cmd // nil while it is stopped
}

// Options are for tests of durability and rights. The zero value is a server that is fast and forgets everything in a power cut.
type Options struct {
	Settings []string // such as "fsync=on"
	Rules    string   // pg_hba.conf; by default the roles but admin need a password
}

// URL returns the address of the database shop for a role.
func (s *Server) URL(role, password string) string {
	return fmt.Sprintf("postgres://%s:%s@/shop?host=%s&sslmode=disable", role, password, s.Socket)
}

// Data returns the folder with the configuration and the data of the server.
func (s *Server) Data() string { return filepath.Join(s.Socket, "data") }

// Start starts a server that ends with the test. The test is skipped if PostgreSQL is not installed.
func Start(t testing.TB) *Server {
	t.Helper()
	return StartWith(t, Options{})
}

// StartWith is Start with options.
func StartWith(t testing.TB, o Options) *Server {
	t.Helper()
	s := newServer(t, append([]string{"fsync=off"}, o.Settings...))
	run(t, s.command("initdb", "-D", s.Data(), "-U", "admin", "-A", "trust", "-E", "UTF8", "--no-sync"))
	rules := o.Rules
	if rules == "" {
		rules = "local all admin trust\nlocal replication admin trust\nlocal all all scram-sha-256\n"
	}
	if err := os.WriteFile(filepath.Join(s.Data(), "pg_hba.conf"), []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	s.Run(t)
	s.SQL(t, "postgres", "CREATE ROLE reader LOGIN PASSWORD 'hunter2-reader'")
	s.SQL(t, "postgres", "CREATE DATABASE shop OWNER reader")
	return s
}

// newServer returns a server without data.
func newServer(t testing.TB, settings []string) *Server {
	t.Helper()
	programs := programs(t)
	dir, err := os.MkdirTemp("", "pg") // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	s := &Server{Socket: dir, programs: programs, identity: ordinaryUser(t, dir)}
	s.settings = append([]string{"listen_addresses=", "unix_socket_directories=" + dir}, settings...)
	t.Cleanup(func() { s.end(syscall.SIGINT) }) // fast shutdown
	return s
}

// Standby returns a running standby with a name, which is a copy of the server that follows it. Settings are added to those of the server.
func (s *Server) Standby(t testing.TB, name string, settings ...string) *Server {
	t.Helper()
	standby := newServer(t, append(slices.Clone(s.settings[2:]), append(settings, "cluster_name="+name)...))
	run(t, standby.command("pg_basebackup", "-h", s.Socket, "-U", "admin", "-D", standby.Data(), "-R", "-X", "stream", "-c", "fast", "--no-sync"))
	standby.Run(t)
	return standby
}

// Follow makes a stopped standby follow another server.
func (s *Server) Follow(t testing.TB, primary *Server) {
	t.Helper()
	s.Set(t, "primary_conninfo=user=admin host="+primary.Socket)
}

// Set adds a setting that takes effect with the next Run.
func (s *Server) Set(t testing.TB, setting string) {
	t.Helper()
	if s.running != nil {
		t.Fatal("the server is running")
	}
	s.settings = append(s.settings, setting)
}

// Promote makes a standby an ordinary server.
func (s *Server) Promote(t testing.TB) {
	t.Helper()
	run(t, s.command("pg_ctl", "promote", "-w", "-D", s.Data()))
}

// SQL executes a statement as the superuser and returns what psql prints.
func (s *Server) SQL(t testing.TB, database, statement string) string {
	t.Helper()
	cmd := s.command("psql", "-h", s.Socket, "-U", "admin", "-d", database, "-v", "ON_ERROR_STOP=1", "-qAtc", statement)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", statement, err, out)
	}
	return strings.TrimSpace(string(out))
}

// Run starts a server that is not running, and waits until it accepts connections.
func (s *Server) Run(t testing.TB) {
	t.Helper()
	args := []string{"-D", s.Data()}
	for _, setting := range s.settings {
		args = append(args, "-c", setting)
	}
	server := s.command("postgres", args...)
	log := &tail.Tail{N: 16 << 10}
	server.Stdout, server.Stderr = log, log
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	s.running = server
	wait.For(t, "the PostgreSQL server", func() error {
		if err := s.command("pg_isready", "-q", "-h", s.Socket).Run(); err != nil {
			return fmt.Errorf("%w\n%s", err, log)
		}
		return nil
	})
}

// Crash ends the server at once, like a crash: it writes nothing more, and recovers from its log when it is run again.
func (s *Server) Crash() { s.end(syscall.SIGQUIT) }

func (s *Server) end(signal syscall.Signal) {
	if s.running == nil {
		return
	}
	_ = s.running.Process.Signal(signal)
	_ = s.running.Wait()
	s.running = nil
}

// command returns a program of PostgreSQL with the identity of the server.
func (s *Server) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(s.programs, name), args...) //nolint:noctx // the cleanup ends the server
	cmd.Dir, cmd.SysProcAttr = s.Socket, s.identity
	cmd.Env = append(os.Environ(), "LC_ALL=C", "HOME="+s.Socket)
	return cmd
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
