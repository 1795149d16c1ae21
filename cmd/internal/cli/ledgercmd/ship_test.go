package ledgercmd_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/cli/ledgercmd"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/cmd/internal/fleet/filestore"
	"github.com/candor-mcp/candor/ledger"
)

// folderEngine opens the store in a folder for every URL.
type folderEngine string

func (dir folderEngine) Open(context.Context, fleet.Location, fleet.OpenOptions) (fleet.Store, error) {
	return filestore.Open(string(dir)), nil
}

// shipWith runs candor fleet ship with a store in a folder for nats: URLs.
func shipWith(ctx context.Context, store folderEngine, args ...string) (out, complaints string, err error) {
	var stdout, stderr strings.Builder
	env := &term.Env{
		In: strings.NewReader(""), Out: term.NewOutput(&stdout, false), Err: &stderr, ColorMode: "never", Now: time.Now,
		Getenv: func(string) string { return "" }, Engines: fleet.Engines{"nats": store},
	}
	cmd := ledgercmd.NewFleet(env)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(append([]string{"ship"}, args...))
	err = errors.Join(cmd.ExecuteContext(ctx), env.Out.Flush())
	return stdout.String(), stderr.String(), err
}

// writtenLedger returns a folder with a closed chain, and the name of the chain.
func writtenLedger(t *testing.T) (dir, chain string) {
	t.Helper()
	dir = t.TempDir()
	l, err := ledger.Open(dir, ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	receipt, err := l.Append(t.Context(), ledger.Entry{Kind: ledger.KindSuccess})
	if err = errors.Join(err, l.Close()); err != nil {
		t.Fatal(err)
	}
	return dir, receipt.Chain
}

func TestShipOnceShipsAFolder(t *testing.T) {
	t.Parallel()
	dir, chain := writtenLedger(t)
	store := folderEngine(t.TempDir())
	out, _, err := shipWith(t.Context(), store, "--once", dir, "nats://h?node=n")
	if err != nil || out != "3 entries shipped to nats://h as node n\n" {
		t.Errorf("%q, %v", out, err)
	}
	if head, err := open(t, string(store)).Head(t.Context(), fleet.Chain{Node: "n", Name: chain}); err != nil || head.Seq != 3 {
		t.Errorf("the store has %d entries, %v", head.Seq, err)
	}
	out, _, err = shipWith(t.Context(), store, "--once", "--json", dir, "nats://h?node=n")
	var stats struct{ Shipped, Waiting uint64 }
	if err != nil || json.Unmarshal([]byte(out), &stats) != nil || stats.Shipped != 0 || stats.Waiting != 0 {
		t.Errorf("the second time: %q, %v", out, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := shipWith(ctx, store, dir, "nats://h?node=n"); err != nil {
		t.Errorf("a command that is stopped: %v", err)
	}
}

func TestShipFailsIfTheStoreHasAnotherChain(t *testing.T) {
	t.Parallel()
	dir, chain := writtenLedger(t)
	store := folderEngine(t.TempDir())
	if _, _, err := shipWith(t.Context(), store, "--once", dir, "nats://h?node=n"); err != nil {
		t.Fatal(err)
	}
	other, otherChain := writtenLedger(t)
	if _, _, err := shipWith(t.Context(), store, "--once", other, "nats://h?node=m"); err != nil {
		t.Fatal(err)
	}
	foreign := linesOf(t, string(store), fleet.Chain{Node: "m", Name: otherChain})
	editChain(t, string(store), fleet.Chain{Node: "n", Name: chain}, func(lines [][]byte) [][]byte { return append(lines[:2], foreign[2]) })
	_, complaints, err := shipWith(t.Context(), store, "--once", dir, "nats://h?node=n")
	var failed *term.Error
	if !errors.As(err, &failed) || failed.Code != term.ExitFound || !strings.Contains(failed.Text, chain) || !strings.Contains(complaints, chain) {
		t.Errorf("got %v; it said %s", err, complaints)
	}
}

func TestShipSaysWhatWaits(t *testing.T) {
	t.Parallel()
	dir, _ := writtenLedger(t)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	store := folderEngine(filepath.Join(file, "away"))
	_, _, err := shipWith(t.Context(), store, "--once", "--wait", "10ms", dir, "nats://h?node=n")
	var failed *term.Error
	if !errors.As(err, &failed) || failed.Code != term.ExitFound || !strings.Contains(failed.Text, "3 entries wait") {
		t.Errorf("got %v", err)
	}
}

// TestShipOnceNamesEntriesThatNoCheckpointCovers ships the folder of a server that was killed.
func TestShipOnceNamesEntriesThatNoCheckpointCovers(t *testing.T) {
	t.Parallel()
	live, dir := t.TempDir(), t.TempDir()
	l, err := ledger.Open(live, ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Append(t.Context(), ledger.Entry{Kind: ledger.KindSuccess}); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.CopyFS(dir, os.DirFS(live)), l.Close()); err != nil { // as a kill leaves it
		t.Fatal(err)
	}
	_, complaints, err := shipWith(t.Context(), folderEngine(t.TempDir()), "--once", dir, "nats://h?node=n")
	if err != nil || !strings.Contains(complaints, "not shipped: no checkpoint covers them yet") {
		t.Errorf("%v; it said %s", err, complaints)
	}
}

func TestShipRefusesMistakes(t *testing.T) {
	t.Parallel()
	dir, _ := writtenLedger(t)
	for _, args := range [][]string{
		{dir}, {dir, "elsewhere"}, {dir, "nats://u:secret@h"}, {dir, "nats://h?ack=both"}, {t.TempDir(), "nats://h"}, {"missing", "nats://h"},
		{dir, "nats://h?backlog=much"}, {dir, "postgres://h/d"},
	} {
		_, _, err := shipWith(t.Context(), folderEngine(t.TempDir()), args...)
		var failed *term.Error
		if !errors.As(err, &failed) || failed.Code != term.ExitUsage || failed.Hint == "" || strings.Contains(failed.Text, "secret") {
			t.Errorf("%v: %v", args, err)
		}
	}
}
