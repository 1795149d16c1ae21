//go:build unix

package pgstore_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"slices"
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/cmd/internal/fleet/pgstore"
	"github.com/candor-mcp/candor/cmd/internal/fleet/storetest"
	"github.com/candor-mcp/candor/cmd/internal/testing/pgtest"
)

// trustLocal lets every role connect over the socket without a password, for tests that are not about passwords.
const trustLocal = "local all all trust\nlocal replication all trust\n"

// shared is one server for all tests that need no settings of their own. Each begins with an empty database.
var shared struct {
	server *pgtest.Server
	owner  *lastingTB
}

// lastingTB keeps what a test wants to clean up until all tests have ended.
type lastingTB struct {
	testing.TB
	cleanups []func()
}

func (l *lastingTB) Cleanup(f func()) { l.cleanups = append(l.cleanups, f) }

func TestMain(m *testing.M) {
	code := m.Run()
	if shared.owner != nil {
		for _, clean := range slices.Backward(shared.owner.cleanups) {
			clean()
		}
	}
	os.Exit(code)
}

// sharedServer returns the shared server, with a database "candor" that has not been set up.
func sharedServer(t testing.TB) *pgtest.Server {
	t.Helper()
	if shared.server == nil {
		shared.owner = &lastingTB{TB: t}
		shared.server = pgtest.StartWith(shared.owner, pgtest.Options{Rules: trustLocal, Settings: []string{"max_connections=300"}})
	}
	shared.server.SQL(t, "postgres", "DROP DATABASE IF EXISTS candor WITH (FORCE)")
	shared.server.SQL(t, "postgres", "CREATE DATABASE candor")
	return shared.server
}

// sharedStore returns the shared server, with an empty store in its database "candor", and the store with the rights of an administrator.
func sharedStore(t testing.TB) (*pgtest.Server, fleet.Store) {
	t.Helper()
	server := sharedServer(t)
	return server, setUp(t, server)
}

// startServer starts a server with settings, and with a database "candor" that has not been set up.
func startServer(t testing.TB, settings ...string) *pgtest.Server {
	t.Helper()
	server := pgtest.StartWith(t, pgtest.Options{Rules: trustLocal, Settings: settings})
	server.SQL(t, "postgres", "CREATE DATABASE candor")
	return server
}

func setUp(t testing.TB, server *pgtest.Server) fleet.Store {
	t.Helper()
	admin := open(t, server, "admin", "candor")
	if err := admin.Setup(t.Context(), fleet.SetupOptions{}); err != nil {
		t.Fatal(err)
	}
	return admin
}

// socketURL returns the URL of a database on servers that are reached by their sockets.
func socketURL(role, database string, servers ...*pgtest.Server) string {
	hosts := ""
	for i, server := range servers {
		if i > 0 {
			hosts += ","
		}
		hosts += server.Socket
	}
	return fmt.Sprintf("postgres://%s@/%s?%s", role, database, url.Values{"host": {hosts}, "node": {"test"}}.Encode())
}

func open(t testing.TB, server *pgtest.Server, role, database string) fleet.Store {
	t.Helper()
	return openURL(t, socketURL(role, database, server))
}

func openURL(t testing.TB, text string) fleet.Store {
	t.Helper()
	store, err := tryOpen(t, text, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return store
}

func tryOpen(t testing.TB, text string, log *slog.Logger) (fleet.Store, error) {
	t.Helper()
	at, err := fleet.ParseLocation(text)
	if err != nil {
		return nil, err
	}
	return openLocation(t, at, log)
}

func openLocation(t testing.TB, at fleet.Location, log *slog.Logger) (fleet.Store, error) {
	t.Helper()
	return pgstore.Engine{}.Open(t.Context(), at, fleet.OpenOptions{Log: log, Getenv: os.Getenv})
}

// addNode creates the role of a node with the SQL of Grant, and returns its store. The role may exist from an earlier test.
func addNode(t testing.TB, server *pgtest.Server, admin fleet.Store, node string) fleet.Store {
	t.Helper()
	text, err := admin.Grant(node)
	if err != nil {
		t.Fatal(err)
	}
	role := "candor_node_" + node
	if server.SQL(t, "candor", "SELECT count(*) FROM pg_roles WHERE rolname = '"+role+"'") == "1" {
		server.SQL(t, "candor", fmt.Sprintf("DROP OWNED BY %[1]q; DROP ROLE %[1]q", role))
	}
	server.SQL(t, "candor", text)
	return open(t, server, role, "candor")
}

// createRole creates a role that may exist from an earlier test.
func createRole(t testing.TB, server *pgtest.Server, role string) {
	t.Helper()
	if server.SQL(t, "candor", "SELECT count(*) FROM pg_roles WHERE rolname = '"+role+"'") == "0" {
		server.SQL(t, "candor", "CREATE ROLE "+role+" LOGIN")
	}
}

func readAll(ctx context.Context, t testing.TB, store fleet.Store, chain fleet.Chain) [][]byte {
	t.Helper()
	var lines [][]byte
	for stored, err := range store.Lines(ctx, chain, 0) {
		if err != nil {
			t.Fatalf("Lines of %s: %v", chain, err)
		}
		lines = append(lines, bytes.Clone(stored.Line))
	}
	return lines
}

// wantChain compares a chain in a store with lines, byte for byte.
func wantChain(t testing.TB, store fleet.Store, chain fleet.Chain, want [][]byte) {
	t.Helper()
	got := readAll(t.Context(), t, store, chain)
	if len(got) != len(want) {
		t.Fatalf("%s has %d lines, want %d", chain, len(got), len(want))
	}
	for i := range want {
		if !bytes.Equal(got[i], want[i]) {
			t.Fatalf("line %d of %s differs: %q", i+1, chain, got[i])
		}
	}
}

func wantClass(t testing.TB, what string, err error, want candor.Class) {
	t.Helper()
	var known *candor.Error
	if !errors.As(err, &known) || known.Class() != want {
		t.Errorf("%s: %v, want class %s", what, err, want)
	}
}

func appendLines(t testing.TB, store fleet.Store, chain fleet.Chain, after fleet.Head, lines [][]byte) fleet.Head {
	t.Helper()
	if err := store.Append(t.Context(), chain, after, lines); err != nil {
		t.Fatalf("Append to %s: %v", chain, err)
	}
	return storetest.HeadOf(t, lines[len(lines)-1])
}
