package harness_test

import (
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"testing"
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
