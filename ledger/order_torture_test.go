package ledger_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/internal/segment/format"
	"github.com/candor-mcp/candor/internal/testing/systrace"
)

var refText = regexp.MustCompile(`\b\d+-\d+-\d+\b`)

// TestR5ReceiptAfterSync traces the system calls of a writer: the line is written to the ledger, the
// file is synced, and only then is the receipt printed.
func TestR5ReceiptAfterSync(t *testing.T) {
	dir := t.TempDir()
	trace := filepath.Join(dir, "trace")
	cmd := process(t, "writer", filepath.Join(dir, "ledger"), countVar+"=40", callersVar+"=8")
	if err := systrace.Wrap(cmd, trace); err != nil {
		t.Skip("strace is not installed")
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		if strings.Contains(string(out), "ptrace") {
			t.Skipf("strace may not trace here: %s", out)
		}
		t.Fatalf("%v: %s", err, out)
	}
	proven := 0
	calls, err := systrace.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	namesAreDurable(t, calls, dir)
	for i, c := range calls {
		if _, text, ok := strings.Cut(c.Args, `"receipt `); ok && c.Says() {
			if why := systrace.Unordered(calls[:i], format.ActiveSegment, refText.FindString(text), c.Began); why != "" {
				t.Errorf("receipt %s: %s", refText.FindString(text), why)
			}
			proven++
		}
	}
	if want := 8 * 40; proven != want {
		t.Errorf("%d receipts in the trace, want %d", proven, want)
	}
	t.Logf("%d receipts, each after the sync of its line, in %d calls", proven, len(calls))
}

// namesAreDurable checks that the name of the ledger's folder, and the names in it, are synced before the first
// receipt.
func namesAreDurable(t *testing.T, calls []*systrace.Call, dir string) {
	t.Helper()
	synced := map[string]bool{}
	for _, c := range calls {
		if c.Says() && strings.Contains(c.Args, `"receipt `) {
			break
		}
		if c.Syncs() {
			synced[strings.TrimPrefix(c.File(), dir)] = true
		}
	}
	for _, folder := range []string{"", "/ledger", "/ledger/keys"} {
		if !synced[folder] {
			t.Errorf("the folder %q was not synced before the first receipt", folder)
		}
	}
}
