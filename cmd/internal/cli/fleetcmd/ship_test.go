package fleetcmd_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/cli/fleetcmd"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/cmd/internal/fleet/memstore"
	"github.com/candor-mcp/candor/ledger"
)

// shipWith runs candor fleet ship with a store in memory for nats: URLs.
func shipWith(ctx context.Context, store *memstore.Store, args ...string) (out, complaints string, err error) {
	var stdout, stderr strings.Builder
	env := &term.Env{
		In: strings.NewReader(""), Out: term.NewOutput(&stdout, false), Err: &stderr, ColorMode: "never", Now: time.Now,
		Getenv: func(string) string { return "" }, Engines: fleet.Engines{"nats": store.Engine()},
	}
	cmd := fleetcmd.New(env)
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
	store := memstore.New()
	out, _, err := shipWith(t.Context(), store, "--once", dir, "nats://h?node=n")
	if err != nil || out != "3 entries shipped to nats://h as node n\n" {
		t.Errorf("%q, %v", out, err)
	}
	if head, err := store.Head(t.Context(), fleet.Chain{Node: "n", Name: chain}); err != nil || head.Seq != 3 {
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
	store := memstore.New()
	if _, _, err := shipWith(t.Context(), store, "--once", dir, "nats://h?node=n"); err != nil {
		t.Fatal(err)
	}
	other, _ := writtenLedger(t)
	if _, _, err := shipWith(t.Context(), store, "--once", other, "nats://h?node=m"); err != nil {
		t.Fatal(err)
	}
	var foreign [][]byte
	chains, err := store.Chains(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for line := range store.Lines(t.Context(), chains[0], 0) { // the chain of node m
		foreign = append(foreign, line.Line)
	}
	store.Edit(fleet.Chain{Node: "n", Name: chain}, func(lines [][]byte) [][]byte { return append(lines[:2:2], foreign[2]) })
	_, complaints, err := shipWith(t.Context(), store, "--once", dir, "nats://h?node=n")
	var failed *term.Error
	if !errors.As(err, &failed) || failed.Code != term.ExitFound || !strings.Contains(failed.Text, chain) || !strings.Contains(complaints, chain) {
		t.Errorf("got %v; it said %s", err, complaints)
	}
}

func TestShipSaysWhatWaits(t *testing.T) {
	t.Parallel()
	dir, _ := writtenLedger(t)
	store := memstore.New()
	store.Err = errors.New("away")
	_, _, err := shipWith(t.Context(), store, "--once", "--wait", "10ms", dir, "nats://h?node=n")
	var failed *term.Error
	if !errors.As(err, &failed) || failed.Code != term.ExitFound || !strings.Contains(failed.Text, "3 entries wait") {
		t.Errorf("got %v", err)
	}
}

// TestShipOnceNamesAChainThatIsNotRecovered ships the folder of a server that was killed: entries that its callers know are recorded are
// after the last checkpoint.
func TestShipOnceNamesAChainThatIsNotRecovered(t *testing.T) {
	t.Parallel()
	live := t.TempDir()
	l, err := ledger.Open(live, ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	receipt, err := l.Append(t.Context(), ledger.Entry{Kind: ledger.KindSuccess})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir() // as a kill leaves it
	if err := errors.Join(os.CopyFS(dir, os.DirFS(live)), l.Close()); err != nil {
		t.Fatal(err)
	}
	out, _, err := shipWith(t.Context(), memstore.New(), "--once", "--json", dir, "nats://h?node=n")
	var failed *term.Error
	if !errors.As(err, &failed) || failed.Code != term.ExitFound || !strings.Contains(failed.Text, receipt.Chain) || !strings.Contains(failed.Hint, "recover") {
		t.Errorf("got %v", err)
	}
	var result struct {
		Behind map[string]uint64 `json:"not_recovered"`
	}
	if err := json.Unmarshal([]byte(out), &result); err != nil || result.Behind[receipt.Chain] == 0 {
		t.Errorf("%s, %v", out, err)
	}
	// The next server recovers it.
	if l, err = ledger.Open(dir, ledger.Options{}); err == nil {
		err = l.Close()
	}
	store := memstore.New()
	if _, _, shipping := shipWith(t.Context(), store, "--once", dir, "nats://h?node=n"); err != nil || shipping != nil {
		t.Errorf("after the recovery: %v, %v", err, shipping)
	}
	if head, err := store.Head(t.Context(), fleet.Chain{Node: "n", Name: receipt.Chain}); err != nil || head.Seq < receipt.Seq {
		t.Errorf("the store has %d entries, want %d (%v)", head.Seq, receipt.Seq, err)
	}
}

// TestShipOnceWaitsForTheCheckpointOfARunningServer ships a folder that is being written.
func TestShipOnceWaitsForTheCheckpointOfARunningServer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l, err := ledger.Open(dir, ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // nothing is left to write
	receipt, err := l.Append(t.Context(), ledger.Entry{Kind: ledger.KindSuccess})
	if err != nil {
		t.Fatal(err)
	}
	store := memstore.New()
	if _, _, err := shipWith(t.Context(), store, "--once", dir, "nats://h?node=n"); err != nil {
		t.Error(err)
	}
	if head, err := store.Head(t.Context(), fleet.Chain{Node: "n", Name: receipt.Chain}); err != nil || head.Seq < receipt.Seq {
		t.Errorf("the store has %d entries, want %d (%v)", head.Seq, receipt.Seq, err)
	}
}

func TestShipRefusesMistakes(t *testing.T) {
	t.Parallel()
	dir, _ := writtenLedger(t)
	for _, args := range [][]string{
		{dir}, {dir, "elsewhere"}, {dir, "nats://u:secret@h"}, {dir, "nats://h?ack=both"}, {t.TempDir(), "nats://h"}, {"missing", "nats://h"},
		{dir, "nats://h?backlog=much"}, {dir, "postgres://h/d"},
	} {
		_, _, err := shipWith(t.Context(), memstore.New(), args...)
		var failed *term.Error
		if !errors.As(err, &failed) || failed.Code != term.ExitUsage || failed.Hint == "" || strings.Contains(failed.Text, "secret") {
			t.Errorf("%v: %v", args, err)
		}
	}
}
