package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/ledger"
)

var million = flag.Bool("million", false, "verify a fleet of a million entries too, which takes minutes")

// TestFleetVerifyMemoryIsFlatForEntries runs the real program on stores of eight writers and compares its peak memory.
func TestFleetVerifyMemoryIsFlatForEntries(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector needs memory of its own")
	}
	sizes := []int{4_000, 48_000}
	if *million {
		sizes = append(sizes, 1_000_000)
	}
	least := 0
	for _, entries := range sizes {
		store := filepath.Join(t.TempDir(), "fleet")
		writeNodes(t, store, 8, entries/8)
		began := time.Now()
		report, peak := verifyFleet(t, store)
		t.Logf("%d entries, %d bytes: peak %d KiB, %v", report.Entries, report.Bytes, peak, time.Since(began).Round(time.Millisecond))
		if !report.OK || len(report.Nodes) != 8 || report.Entries < uint64(entries) {
			t.Errorf("%d entries: got %+v", entries, report)
		}
		if least == 0 {
			least = peak
		}
		if limit := least + 24<<10; peak > limit {
			t.Errorf("%d entries need %d KiB, want at most %d: memory grows with the entries", entries, peak, limit)
		}
		if err := os.RemoveAll(store); err != nil {
			t.Fatal(err)
		}
	}
}

// writeNodes writes the ledgers of some nodes into a store, whose folders have the form of ledgers.
func writeNodes(t *testing.T, store string, nodes, entries int) {
	t.Helper()
	var writers sync.WaitGroup
	for n := range nodes {
		l, err := ledger.Open(filepath.Join(store, fmt.Sprintf("node-%d", n)), ledger.Options{})
		if err != nil {
			t.Fatal(err)
		}
		const callers = 64
		for c := range callers {
			writers.Go(func() {
				for i := c; i < entries; i += callers {
					entry := ledger.Entry{Kind: ledger.KindFailure, Tool: fmt.Sprintf("tool-%d", i%7), Code: candor.CodeRateLimited, Cause: fmt.Sprintf("quota exceeded for the %dth time", i)}
					if _, err := l.Append(context.Background(), entry); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		t.Cleanup(func() { _ = l.Close() }) // closed below, unless the test has failed
		defer func() {
			writers.Wait()
			if err := l.Close(); err != nil {
				t.Error(err)
			}
		}()
	}
}

type fleetReport struct {
	OK      bool
	Entries uint64
	Bytes   int64
	Nodes   []struct{ Node string }
}

// verifyFleet runs candor fleet verify and returns its report and its peak memory in KiB.
func verifyFleet(t *testing.T, store string) (report fleetReport, peak int) {
	t.Helper()
	var out, problems bytes.Buffer
	cmd := exec.CommandContext(t.Context(), filepath.Join(installed(t), term.ProgramName), "fleet", "verify", "file:"+store, "--json")
	cmd.Stdout, cmd.Stderr = &out, &problems
	cmd.Env = []string{"XDG_STATE_HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	look := time.NewTicker(2 * time.Millisecond)
	defer look.Stop()
	for running := true; running; {
		select {
		case err := <-ended:
			if err != nil {
				t.Fatalf("%v: %s", err, problems.Bytes())
			}
			running = false
		case <-look.C:
			peak = max(peak, peakMemory(cmd.Process.Pid))
		}
	}
	if err := json.Unmarshal(out.Bytes(), &report); err != nil {
		t.Fatal(err)
	}
	return report, peak
}

// peakMemory returns the largest resident size of a process so far in KiB. The resource usage of an ended process cannot be used: it
// includes that of this one, which it was a copy of.
func peakMemory(pid int) int {
	file, err := os.Open(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	defer file.Close() //nolint:errcheck // it was only read
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if words := strings.Fields(lines.Text()); len(words) > 1 && words[0] == "VmHWM:" {
			size, _ := strconv.Atoi(words[1])
			return size
		}
	}
	return 0
}
