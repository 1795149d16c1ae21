package sizing

import (
	"encoding/json"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/sizing.md from testdata/measured.json")

var (
	measuredFile = filepath.Join("testdata", "measured.json")
	pageFile     = filepath.FromSlash("../../../../../docs/sizing.md")
)

func measured(t *testing.T) Measured {
	t.Helper()
	text, err := os.ReadFile(measuredFile)
	if err != nil {
		t.Fatal(err)
	}
	var m Measured
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// TestModelIsWithinTwentyPercent compares the model and the simulation with what was measured.
func TestModelIsWithinTwentyPercent(t *testing.T) {
	t.Parallel()
	m := measured(t)
	if len(m.Stores) == 0 {
		t.Fatal("no store was measured")
	}
	for _, e := range append([]Engine{m.Ledger}, m.Stores...) {
		s, err := Fit(e.Points, e.Batch)
		if err != nil {
			t.Fatal(err)
		}
		if len(e.Points) != 4 || s.Deviation(e.Points) > 0.2 {
			t.Errorf("%s: the model %+v differs by %.0f %% from %v", e.Name, s, 100*s.Deviation(e.Points), e.Points)
		}
		for _, p := range e.Points {
			if simulated := Simulate(s, p.Nodes, simulatedBatches, 1); math.Abs(simulated-p.Rate)/p.Rate > 0.2 {
				t.Errorf("%s, %d nodes: the simulation has %.0f entries/s, measured were %.0f", e.Name, p.Nodes, simulated, p.Rate)
			}
		}
	}
}

func TestPageHasTheFiguresOfTheMeasurement(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(pageFile)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(page), "\r\n", "\n")
	want, err := replaceFigures(text, measured(t))
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(pageFile, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if text != want {
		t.Error("docs/sizing.md differs from testdata/measured.json; go test ./cmd/cluster/internal/testing/sizing -update writes it again")
	}
	if _, err := replaceFigures("no place", measured(t)); err == nil {
		t.Error("a page without a place for figures was accepted")
	}
}

func TestNumbersAreReadable(t *testing.T) {
	t.Parallel()
	for got, want := range map[string]string{
		number(1234567): "1,230,000", number(0.5): "0.5", number(999): "999", size(1500): "1.5 kB", size(5e15): "5e+03 TB",
		duration(5): "5.0 s", duration(600): "10 min", duration(36000): "10.0 h", duration(math.Inf(1)): "never",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
