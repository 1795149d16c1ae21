//go:build unix

package main_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/testing/pgtest"
)

// failingServer is an MCP server that answers every request with the same error.
const failingServer = `while read -r line; do
	id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
	[ -n "$id" ] && printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"the disk is full"}}\n' "$id"
done`

// wrapped is a running candor-cluster wrap.
type wrapped struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	answers *bufio.Scanner
	said    *bytes.Buffer
}

func wrap(t *testing.T, program, location string) *wrapped {
	t.Helper()
	w := &wrapped{cmd: exec.CommandContext(t.Context(), program, "wrap", "--ledger", location, "--", "sh", "-c", failingServer), said: &bytes.Buffer{}}
	w.cmd.Stderr = w.said
	var err error
	if w.in, err = w.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	w.answers = bufio.NewScanner(out)
	w.answers.Buffer(nil, 1<<20)
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.in.Close(); _ = w.cmd.Wait() })
	return w
}

// fail makes calls that fail, and reads their answers.
func (w *wrapped) fail(t *testing.T, calls int) {
	t.Helper()
	for id := range calls {
		if _, err := fmt.Fprintf(w.in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"write","arguments":{}}}`+"\n", id+1); err != nil {
			t.Fatalf("%v; it said %s", err, w.said)
		}
		if !w.answers.Scan() {
			t.Fatalf("no answer to call %d; it said %s", id+1, w.said)
		}
	}
}

func (w *wrapped) end(t *testing.T) {
	t.Helper()
	_ = w.in.Close()
	if err := w.cmd.Wait(); err != nil {
		t.Fatalf("%v; it said %s", err, w.said)
	}
}

// failures returns how many failures a fleet's record has.
func failures(t *testing.T, program, location string) int {
	t.Helper()
	code, out, complaints := run(t, program, "ledger", "export", "--format", "jsonl", location)
	if code != 0 {
		t.Fatalf("export: %d %s", code, complaints)
	}
	n := 0
	for line := range strings.Lines(out) {
		var entry struct {
			Kind string `json:"kind"`
		}
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Fatal(err)
		}
		if entry.Kind == "failure" {
			n++
		}
	}
	return n
}

// TestWrapShipsToPostgreSQL runs servers that ship to a real PostgreSQL in each mode of acknowledgement.
func TestWrapShipsToPostgreSQL(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	primary := pgtest.StartWith(t, pgtest.Options{Rules: "local all all trust\nlocal replication all trust\n", Settings: []string{"fsync=on"}})
	primary.SQL(t, "postgres", "CREATE DATABASE candor")
	dir := t.TempDir()
	program := filepath.Join(dir, "candor-cluster")
	build(t, "1.2.3", program, ".")
	t.Setenv("HOME", dir)
	location := func(role, more string, servers ...*pgtest.Server) string {
		var hosts []string
		for _, server := range servers {
			hosts = append(hosts, server.Socket)
		}
		return fmt.Sprintf("postgres://%s@/candor?%s%s", role, url.Values{"host": {strings.Join(hosts, ",")}}.Encode(), more)
	}
	must := func(args ...string) string {
		t.Helper()
		code, out, complaints := run(t, program, args...)
		if code != 0 {
			t.Fatalf("candor-cluster %s: %d\n%s%s", strings.Join(args, " "), code, out, complaints)
		}
		return out
	}
	operator := location("admin", "", primary)
	must("fleet", "setup", operator)
	primary.SQL(t, "candor", must("fleet", "join", "web-1", operator))
	folder := filepath.Join(dir, "ledger")
	options := "&node=web-1&dir=" + url.QueryEscape(folder)
	node := location("candor_node_web-1", options, primary)

	// Calls are answered while the store is away, and their entries arrive later.
	local := wrap(t, program, node)
	local.fail(t, 5)
	primary.Crash()
	local.fail(t, 5)
	primary.Run(t)
	local.fail(t, 5)
	local.end(t)

	both := wrap(t, program, node+"&ack=both")
	both.fail(t, 5)
	if err := both.cmd.Process.Kill(); err != nil { // all answers that were given are in the store
		t.Fatal(err)
	}
	_ = both.cmd.Wait()
	if n := failures(t, program, operator); n < 5 {
		t.Errorf("the store has %d failures", n)
	}

	refused := wrap(t, program, node+"&ack=quorum")
	if err := refused.cmd.Wait(); err == nil || !strings.Contains(refused.said.String(), "synchronous_standby_names") {
		t.Errorf("quorum on one machine: %v; it said %s", err, refused.said)
	}
	db2, db3 := primary.Standby(t, "db2"), primary.Standby(t, "db3")
	primary.SQL(t, "postgres", "ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (db2, db3)'")
	primary.SQL(t, "postgres", "SELECT pg_reload_conf()")
	for primary.SQL(t, "postgres", "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'quorum'") != "2" {
		if t.Context().Err() != nil {
			t.Fatal("the standbys do not connect")
		}
		time.Sleep(20 * time.Millisecond)
	}
	quorum := wrap(t, program, location("candor_node_web-1", options+"&ack=quorum", primary, db2, db3))
	quorum.fail(t, 5)
	quorum.end(t)
	must("fleet", "ship", "--once", folder, node)
	if n := failures(t, program, operator); n != 25 {
		t.Errorf("the store has %d failures, want 25", n)
	}
	must("fleet", "verify", operator)
	must("ledger", "verify", folder)
}
