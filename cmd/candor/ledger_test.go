package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/cli/decodecmd"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/codes/kaiza"
	"github.com/candor-mcp/candor/ledger"
)

// makeLedger is the script command `makeledger DIR [killed]`. It creates a ledger with one chain of 12 entries by callers and puts the
// name of the chain into $CHAIN. A killed ledger was not closed and ends with a partial line. For a closed one, checkpoints are also
// written to DIR.second.
func makeLedger(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: makeledger DIR [killed]")
	}
	dir := ts.MkAbs(args[0])
	chain, err := writeLedger(dir, len(args) > 1 && args[1] == "killed")
	ts.Check(err)
	ts.Setenv("CHAIN", chain)
}

func writeLedger(dir string, killed bool) (chain string, err error) {
	aside := dir + ".aside"
	now := decodecmd.SampleTime
	o := ledger.Options{Instance: "test", WitnessCopy: dir + ".second", Clock: func() time.Time {
		now = now.Add(50 * time.Millisecond) // all within one second, after which a checkpoint would be written
		return now
	}}
	if killed { // the second file would cover the end that the copy does not have
		o.WitnessCopy = ""
	}
	l, err := ledger.Open(aside, o)
	if err != nil {
		return "", err
	}
	codes := []candor.Code{kaiza.FileNotFound, candor.CodeTimeout, kaiza.FileNotFound}
	for i := range 12 {
		e := ledger.EntryOf(candor.New(codes[i%3], "", candor.WithTool([]string{"read_file", "search"}[i%2]), candor.WithRef(fmt.Sprintf("ref-%02d", i))))
		e.Call, e.Args, e.Latency = fmt.Sprintf("call-%d", i/2), []byte(`{"path":"secret"}`), 1500*time.Microsecond
		e.Cause = "=HYPERLINK(1) \x1b[31mred\u202e, for the " + fmt.Sprint(i) + "th time"
		receipt, err := l.Append(context.Background(), e)
		if err != nil {
			return "", err
		}
		chain = receipt.Chain
	}
	if killed {
		if err := copyKilled(aside, dir, chain); err != nil {
			return "", err
		}
		return chain, l.Close()
	}
	if err := l.Close(); err != nil {
		return "", err
	}
	return chain, os.Rename(aside, dir)
}

// copyKilled copies the folder while its writer is running, and truncates the last line of the copy.
func copyKilled(from, to, chain string) error {
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		return err
	}
	for _, name := range []string{"signer.key", "digest.key"} {
		if err := os.Chmod(filepath.Join(to, "keys", name), 0o600); err != nil {
			return err
		}
	}
	name := filepath.Join(to, chain, "audit-log.jsonl")
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	return os.WriteFile(name, data[:len(data)-25], 0o600)
}

func TestPruneAsksOnATerminal(t *testing.T) {
	for answer, changed := range map[string]bool{"y\n": true, "yes\n": true, "\n": false, "n\n": false, "": false} {
		dir := filepath.Join(t.TempDir(), "ledger")
		if _, err := writeLedger(dir, false); err != nil {
			t.Fatal(err)
		}
		code, out, _ := watched(answer, map[string]string{"NO_COLOR": "1"}, "ledger", "prune", dir, "--keep-bytes", "0")
		if code != term.ExitOK || !strings.Contains(out, "Remove them? They cannot be restored. [y/N] ") || strings.Contains(out, "removed 1 segment") != changed {
			t.Errorf("%q: exit code %d, output %s", answer, code, out)
		}
	}
}

func TestLedgerTailEscapesControlCharacters(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ledger")
	chain, err := writeLedger(dir, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"tail", "-n", "0"}, {"show", chain + "/3"}, {"stats"}, {"verify"}} {
		code, out, _ := watched("", map[string]string{"NO_COLOR": "1"}, append([]string{"ledger", "--ledger", dir}, args...)...)
		if code != term.ExitOK || strings.ContainsAny(out, "\x1b\u202e") || out == "" {
			t.Errorf("%v: exit code %d, output %q", args, code, out)
		}
	}
}

func TestPrintableEscapesControlCharacters(t *testing.T) {
	for text, want := range map[string]string{
		"fine, ü and 漢字": "fine, ü and 漢字", "a\x1b[31mb": `a\u001b[31mb`, "a\nb\tc": `a\nb\tc`, "\u202eevil": `\u202eevil`, "\U000e0041": `\U000e0041`, "": "",
	} {
		if got := term.Printable(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

// backdate sets the modification time of files to an hour ago.
func backdate(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: backdate FILE…")
	}
	for _, name := range args {
		past := time.Now().Add(-time.Hour)
		ts.Check(os.Chtimes(ts.MkAbs(name), past, past))
	}
}
