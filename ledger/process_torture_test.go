package ledger_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/storage"
	"github.com/candor-mcp/candor/ledger"
	"github.com/candor-mcp/candor/ledger/verify"
)

// The test binary runs itself as another process, which reads its task from these environment variables.
const (
	roleVariable = "CANDOR_TEST_ROLE"
	dirVariable  = "CANDOR_TEST_DIR"
	countVar     = "CANDOR_TEST_COUNT"   // entries per caller; 0 means until killed
	callersVar   = "CANDOR_TEST_CALLERS" // number of concurrent callers
)

var roles = map[string]func(t *testing.T, dir string){
	"writer": writerRole,
	"full":   fullRole,
}

// TestChildProcess is not a test. It is the entry point of the processes that other tests start.
func TestChildProcess(t *testing.T) {
	if role := roles[os.Getenv(roleVariable)]; role != nil {
		role(t, os.Getenv(dirVariable))
	}
}

// process returns a command that runs the test binary in a role.
func process(t *testing.T, role, dir string, environment ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestChildProcess$", "-test.count=1")
	cmd.Env = append(os.Environ(), append(environment, roleVariable+"="+role, dirVariable+"="+dir)...)
	return cmd
}

// writerRole appends from several goroutines. Each prints a receipt in one write after Append has returned.
func writerRole(t *testing.T, dir string) {
	l, err := ledger.Open(dir, ledger.Options{Instance: "writer-" + strconv.Itoa(os.Getpid()), MaxSegmentBytes: 256 << 10, WitnessCopy: dir + ".second"})
	if err != nil {
		t.Fatal(err)
	}
	count, _ := strconv.Atoi(os.Getenv(countVar))
	callers, _ := strconv.Atoi(os.Getenv(callersVar))
	var wg sync.WaitGroup
	for c := range callers {
		wg.Go(func() {
			for i := 0; count == 0 || i < count; i++ {
				ref := fmt.Sprintf("%d-%d-%d", os.Getpid(), c, i)
				r, err := l.Append(context.Background(), ledger.Entry{
					Kind: ledger.KindFailure, Ref: ref, Tool: "read_file", Code: candor.CodeNotFound, Outcome: ledger.OutcomeError,
					Envelope: []byte(strings.Repeat("x", (37*i)%700)),
				})
				if err != nil {
					t.Error(err)
					return
				}
				fmt.Fprintf(os.Stdout, "receipt %s %s %d %s\n", ref, r.Chain, r.Seq, r.Hash)
			}
		})
	}
	wg.Wait()
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

// receipt is a receipt that a writer printed.
type receipt struct {
	ledger.Receipt
	ref string
}

// readReceipts reads the receipts that a writer prints, until it exits. It ignores an incomplete last line.
func readReceipts(r io.Reader, each func(receipt)) error {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadString('\n')
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if !strings.HasPrefix(line, "receipt ") {
			continue // printed by the test binary itself
		}
		var said receipt
		if _, err := fmt.Sscanf(line, "receipt %s %s %d %s\n", &said.ref, &said.Chain, &said.Seq, &said.Hash); err != nil {
			return fmt.Errorf("line %q: %w", line, err)
		}
		each(said)
	}
}

// holdsAll checks that the entry of every receipt exists and that every ref occurs once.
func holdsAll(t *testing.T, dir string, said []receipt) {
	t.Helper()
	f, err := readFolder(os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range said {
		if got := f.hashes[place{r.Chain, r.Seq}]; got != r.Hash {
			t.Errorf("%s was acknowledged as %s/%d and is not there (found hash %q)", r.ref, r.Chain, r.Seq, got)
		}
	}
	if len(f.twice) > 0 {
		t.Errorf("%d entries are there twice, the first is %v", len(f.twice), f.twice[0])
	}
	for ref, times := range f.refs {
		if times != 1 {
			t.Errorf("%s is there %d times", ref, times)
		}
	}
}

// verifiesClean checks that the verifier finds no damage.
func verifiesClean(t *testing.T, dir string) verify.Report {
	t.Helper()
	var options verify.Options
	if _, err := os.Stat(dir + ".second"); err == nil {
		options.WitnessCopies = []string{dir + ".second"}
	}
	report, err := verify.Dir(context.Background(), dir, options)
	if err != nil {
		t.Fatal(err)
	}
	for _, damage := range report.Damage {
		t.Errorf("false alarm: %s", damage)
	}
	return report
}

// TestR8EightProcessesShareOneFolder makes eight processes append to one folder at the same time.
func TestR8EightProcessesShareOneFolder(t *testing.T) {
	t.Parallel()
	count := 250
	if testing.Short() {
		count = 25
	}
	shareFolder(t, 8, count)
}

func TestK18TwoProcessesAppendAThousandEntriesEach(t *testing.T) {
	t.Parallel()
	shareFolder(t, 2, 250)
}

// shareFolder makes processes append to one folder at the same time, each with four callers that append count entries.
func shareFolder(t *testing.T, processes, count int) {
	const callers = 4
	dir := t.TempDir() + "/ledger"
	var mu sync.Mutex
	var said []receipt
	var wg sync.WaitGroup
	for range processes {
		cmd := process(t, "writer", dir, countVar+"="+strconv.Itoa(count), callersVar+"="+strconv.Itoa(callers))
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			err := readReceipts(out, func(r receipt) {
				mu.Lock()
				defer mu.Unlock()
				said = append(said, r)
			})
			if err := cmd.Wait(); err != nil {
				t.Errorf("a writer ended with %v", err)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if want := processes * callers * count; len(said) != want {
		t.Errorf("%d receipts, want %d", len(said), want)
	}
	holdsAll(t, dir, said)
	unique(t, said)
	report := verifiesClean(t, dir)
	if len(report.Chains) != processes {
		t.Errorf("%d chains, want one for each of %d processes", len(report.Chains), processes)
	}
	t.Logf("%d receipts, %d entries, %d chains", len(said), report.Entries, len(report.Chains))
}

func unique(t *testing.T, said []receipt) {
	t.Helper()
	places := map[place]string{}
	for _, r := range said {
		at := place{r.Chain, r.Seq}
		if other, taken := places[at]; taken {
			t.Errorf("fork: %s and %s are both %s/%d", other, r.ref, r.Chain, r.Seq)
		}
		places[at] = r.ref
	}
}

// TestR8SecondOpenerOfAChainIsRefused keeps a ledger open while other code tries to take over its chain.
func TestR8SecondOpenerOfAChainIsRefused(t *testing.T) {
	dir := t.TempDir() + "/ledger"
	first, err := ledger.Open(dir, ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := first.Append(t.Context(), ledger.Entry{Kind: ledger.KindSuccess})
	if err != nil {
		t.Fatal(err)
	}
	disk, err := storage.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := disk.Lock(r.Chain+"/lock", nil); !errors.Is(err, storage.ErrLocked) {
		t.Errorf("the lock of a living chain: %v", err)
	}
	second, err := ledger.Open(dir, ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	other, err := second.Append(t.Context(), ledger.Entry{Kind: ledger.KindSuccess})
	if err != nil {
		t.Fatal(err)
	}
	if other.Chain == r.Chain {
		t.Error("two writers share a chain")
	}
	again, err := first.Append(t.Context(), ledger.Entry{Kind: ledger.KindSuccess})
	if err != nil || again.Seq <= r.Seq {
		t.Errorf("the first writer was disturbed: %v, %v", again, err)
	}
	for _, close := range []func() error{second.Close, first.Close, disk.Close} {
		if err := close(); err != nil {
			t.Error(err)
		}
	}
	if f, err := readFolder(os.DirFS(dir)); err != nil || f.kinds[ledger.KindRecovered] != 0 {
		t.Errorf("a living chain was recovered, or %v", err)
	}
	verifiesClean(t, dir)
}
