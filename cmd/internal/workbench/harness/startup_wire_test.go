package harness_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/candor-mcp/candor/internal/filelock"
)

var initTrace = regexp.MustCompile(`(?m)^init (\S+) @.* (\d+) bytes, \d+ allocs$`)

// TestDomainPackagesAllocateLittleAtInit limits the allocations of the domain packages, and of their browser and
// database libraries, when any command starts.
func TestDomainPackagesAllocateLittleAtInit(t *testing.T) {
	t.Parallel()
	const most = 8 << 10
	ours := regexp.MustCompile(`workbench/harness|sqlitedb|netpolicy|chromedp|cdproto|gobwas|pgx|jackc|sqlite|modernc`)
	cmd := exec.Command(binary, "version")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}
	found := initTrace.FindAllStringSubmatch(string(out), -1)
	if len(found) < 50 {
		t.Fatalf("no trace: %s", out)
	}
	for _, row := range found {
		if size, _ := strconv.Atoi(row[2]); ours.MatchString(row[1]) && size > most {
			t.Errorf("%s allocates %d bytes at the start of every command, want at most %d: use sync.OnceValue", row[1], size, most)
		}
	}
}

// TestStartWaitsForTheLedgerFolder holds the lock of the directory longer than one attempt to open it takes. Many
// processes that start at the same time hold it one after the other, each to create a chain.
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
