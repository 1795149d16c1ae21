package bridge_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/internal/testing/corpus"
	ledgerverify "github.com/candor-mcp/candor/ledger/verify"
)

// recordedFailures returns at most n failures of real servers that the servers themselves flagged as failures.
func recordedFailures(t *testing.T, n int) (all []plant) {
	t.Helper()
	records, err := corpus.Load(corpus.Failures)
	if errors.Is(err, corpus.ErrAbsent) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		var whole struct{ Result, Error json.RawMessage }
		if json.Unmarshal(r.Response, &whole) != nil || !r.Flagged() || len(all) == n {
			continue
		}
		say := `"result":` + string(whole.Result)
		if whole.Error != nil {
			say = `"error":` + string(whole.Error)
		}
		all = append(all, plant{way: r.Server + " " + r.Tool, act: act{Say: say}})
	}
	return all
}

// TestP16BytesPerRecordedFailure records the failures of real servers like the gateway, and bounds their size on disk.
func TestP16BytesPerRecordedFailure(t *testing.T) {
	s := newScene(t)
	s.wrap(t, gateway.ModeAnnotate, recordedFailures(t, 2000))
	if err := s.ledger.Close(); err != nil {
		t.Fatal(err)
	}
	var sizes []int
	total := 0
	logs, err := filepath.Glob(filepath.Join(s.dir, "*", "audit-log*.jsonl"))
	for _, name := range logs {
		data, readErr := os.ReadFile(name)
		err = errors.Join(err, readErr)
		total += len(data)
		for line := range strings.Lines(string(data)) {
			if strings.Contains(line, `"kind":"failure"`) {
				sizes = append(sizes, len(line))
			}
		}
	}
	if err != nil || len(sizes) == 0 {
		t.Fatalf("%d failures: %v", len(sizes), err)
	}
	slices.Sort(sizes)
	t.Logf("P16: %d failures, bytes of an entry: median %d, 90 %% %d, most %d; of the log per failure %d", len(sizes), sizes[len(sizes)/2],
		sizes[len(sizes)*9/10], sizes[len(sizes)-1], total/len(sizes))
	if median := sizes[len(sizes)/2]; median > 2<<10 {
		t.Errorf("a recorded failure takes %d bytes, want at most 2048", median)
	}
	if report, err := ledgerverify.Dir(context.Background(), s.dir, ledgerverify.Options{}); err != nil || !report.OK {
		t.Errorf("verify: %v, %v", report.Damage, err)
	}
}
