//go:build unix

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
)

// forgetIn runs candor ledger forget for the ledger in a home directory.
func forgetIn(home, input string, args ...string) (code int, out, complaints string) {
	env := map[string]string{"HOME": home, "NO_COLOR": "1"}
	return watched(input, env, append([]string{"ledger", "forget", filepath.Join(home, "trail")}, args...)...)
}

// TestForgetRemovedLedger removes a ledger, writes another at the same path, and checks that verify succeeds again.
func TestForgetRemovedLedger(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	session(t, home, syscall.SIGTERM)
	trail := filepath.Join(home, "trail")
	if err := os.RemoveAll(trail); err != nil {
		t.Fatal(err)
	}
	if code, _, complaints := verify(home); code == term.ExitOK || !strings.Contains(complaints, "checkpoints/trail-") || !strings.Contains(complaints, "candor ledger forget "+trail) {
		t.Errorf("the folder is gone: exit code %d: %s", code, complaints)
	}
	kept := session(t, home, syscall.SIGTERM)
	code, out, complaints := verify(home)
	if code != term.ExitFound || !strings.Contains(out, "missing-chain") || !strings.Contains(complaints, "removed on purpose: candor ledger forget "+trail+"\n") {
		t.Fatalf("exit code %d: %s%s", code, out, complaints)
	}
	if code, out, _ := forgetIn(home, "n\n"); code != term.ExitOK || !strings.Contains(out, "Nothing was changed.") {
		t.Errorf("not agreed: exit code %d: %s", code, out)
	}
	if code, _, _ := verify(home); code != term.ExitFound {
		t.Error("it was forgotten although the answer was no")
	}
	code, out, complaints = forgetIn(home, "", "--yes", "--json")
	var report struct {
		Copies []struct {
			Archive string
			Chains  []string
		} `json:"witness_copies"`
		Done bool
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil || code != term.ExitOK || !report.Done || len(report.Copies) != 1 || len(report.Copies[0].Chains) != 1 {
		t.Fatalf("exit code %d: %s%s", code, out, complaints)
	}
	if old, err := os.ReadFile(report.Copies[0].Archive); err != nil || !strings.Contains(string(old), report.Copies[0].Chains[0]) {
		t.Errorf("the file as it was: %v", err)
	}
	if code, out, complaints := verify(home); code != term.ExitOK || !strings.Contains(out, "by a witness copy") {
		t.Errorf("afterwards: exit code %d: %s%s", code, out, complaints)
	}
	if err := os.RemoveAll(kept); err != nil {
		t.Fatal(err)
	}
	if code, out, _ := verify(home); code != term.ExitFound || !strings.Contains(out, filepath.Base(kept)) {
		t.Errorf("what was not forgotten is not missed: exit code %d: %s", code, out)
	}
}

// TestForgetMissingFolder checks that forget needs neither the folder nor its key.
func TestForgetMissingFolder(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	session(t, home, syscall.SIGTERM)
	if err := os.RemoveAll(filepath.Join(home, "trail")); err != nil {
		t.Fatal(err)
	}
	if code, out, complaints := forgetIn(home, "", "--yes"); code != term.ExitOK || !strings.Contains(out, "forgotten: 1 chain;") {
		t.Fatalf("exit code %d: %s%s", code, out, complaints)
	}
	session(t, home, syscall.SIGTERM)
	if code, out, complaints := verify(home); code != term.ExitOK {
		t.Errorf("exit code %d: %s%s", code, out, complaints)
	}
	if code, out, _ := forgetIn(home, "", "--yes"); code != term.ExitOK || !strings.Contains(out, "Nothing to forget") {
		t.Errorf("again: exit code %d: %s", code, out)
	}
}

// TestRunningWriterFollowsWitnessCopy checks that a running writer keeps its checkpoints in the file that forget has written.
func TestRunningWriterFollowsWitnessCopy(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	session(t, home, syscall.SIGTERM)
	if err := os.RemoveAll(filepath.Join(home, "trail")); err != nil {
		t.Fatal(err)
	}
	p := launchIn(t, home, "wrap", "--", "badserver")
	p.fails("1", "NOT_FOUND")
	awaitCheckpoint(t, p.chain())
	if code, out, complaints := forgetIn(home, "", "--yes"); code != term.ExitOK {
		t.Fatalf("exit code %d: %s%s", code, out, complaints)
	}
	p.fails("2", "NOT_FOUND")
	p.signal(syscall.SIGTERM)
	p.ends()
	cutWithCheckpoints(t, p.chain(), 3)
	if code, out, _ := verify(home); code != term.ExitFound || !strings.Contains(out, "FAILED  truncated") {
		t.Errorf("what was cut is not missed: exit code %d: %s", code, out)
	}
}
