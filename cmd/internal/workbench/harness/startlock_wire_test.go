package harness_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/candor-mcp/candor/internal/filelock"
)

// TestStartWaitsForTheLedgerFolder holds the lock of the folder longer than one attempt to open it takes. Many processes that start at
// the same time hold it one after the other, each for a chain of its own.
func TestStartWaitsForTheLedgerFolder(t *testing.T) {
	t.Parallel()
	first := start(t, setup{ledger: true})
	first.end()
	root, err := os.OpenRoot(filepath.Join(first.state, "ledger"))
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close() //nolint:errcheck // only a lock
	lock, err := filelock.Open(root, "lock")
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close() //nolint:errcheck // it may be closed already
	time.AfterFunc(7*time.Second, func() { _ = lock.Close() })
	h := start(t, setup{ledger: true, state: first.state})
	h.call("sys/ping", "{}").result()
	if code := h.end(); code != 0 {
		t.Errorf("exit code %d: %s", code, &h.said)
	}
}
