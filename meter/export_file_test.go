package meter_test

import (
	"encoding/json"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"testing"

	"github.com/candor-mcp/candor/codes/kg"
	"github.com/candor-mcp/candor/meter"
)

func TestCloseWritesFile(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "last.json")
	m := newMeter(t, meter.Options{File: file})
	for range 3 {
		m.Count(failure(kg.Full, "kg/add"), "tool")
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var s meter.Stats
	if err := json.Unmarshal(text, &s); err != nil || s.Total != 3 || text[len(text)-1] != '\n' {
		t.Errorf("file holds %s (%v)", text, err)
	}
	if left, _ := os.ReadDir(folder); len(left) != 1 {
		t.Errorf("drafts are left behind: %v", left)
	}
	if info, _ := os.Stat(file); info.Mode().Perm() != 0o600 {
		t.Errorf("others can read the file: %v", info.Mode())
	}
}

func TestRestoreLifetime(t *testing.T) {
	m := newMeter(t, meter.Options{})
	if m.Stats().Lifetime != nil {
		t.Error("there is a lifetime without a Restore")
	}
	recorded := []meter.Series{
		{Code: kg.Full, Tool: "kg/add", Verdict: "tool", Count: 1},
		{Code: kg.Full, Tool: "kg/add", Verdict: "tool", Count: 1},
		{Tool: "line\nbreak", Verdict: "lost", Count: 1}, // a code of an older version
		{Code: kg.Full, Verdict: "clean", Count: 1},
	}
	if err := m.Restore(entries(recorded, nil)); err != nil {
		t.Fatal(err)
	}
	m.Count(failure(kg.Full, "kg/add"), "tool")
	s := m.Stats()
	if s.Total != 1 || s.Lifetime.Total != 4 || sum(s.Lifetime.ByCode) != 4 {
		t.Errorf("total %d, lifetime %d", s.Total, s.Lifetime.Total)
	}
	if s.Lifetime.ByTool["kg/add"]["tool"] != 3 || s.Lifetime.BySymbol["UNCODED_ERROR"] != 1 || s.Lifetime.ByTool["linebreak"]["lost"] != 1 {
		t.Errorf("lifetime is %+v", *s.Lifetime)
	}
	cut := errors.New("cut short")
	if err := m.Restore(entries(recorded[:1], cut)); !errors.Is(err, cut) {
		t.Errorf("a broken sequence gives %v", err)
	}
	if got := m.Stats().Lifetime.Total; got != 4 {
		t.Errorf("after a broken Restore the lifetime is %d, want the 4 of before", got)
	}
	if err := m.Restore(entries(recorded[:1], nil)); err != nil || m.Stats().Lifetime.Total != 2 {
		t.Errorf("a second Restore does not replace the first: %d, %v", m.Stats().Lifetime.Total, err)
	}
}

func TestNilMeterCountsNothing(t *testing.T) {
	var m *meter.Meter
	m.Count(nil, "tool")
	m.CountSuppressed()
	m.CountUnrecorded(nil)
	m.SetTools("a")
	if err := errors.Join(m.Restore(entries(nil, nil)), m.Close()); err != nil {
		t.Error(err)
	}
	const want = `{"total":0,"byCode":{},"byDomain":{},"bySymbol":{},"byTool":{},"suppressed":0,"suspected":0,"unrecorded":0}`
	if got := string(m.AppendStats(nil)); got != want {
		t.Errorf("stats are %s", got)
	}
}

func entries(all []meter.Series, end error) iter.Seq2[meter.Series, error] {
	return func(yield func(meter.Series, error) bool) {
		for _, p := range all {
			if !yield(p, nil) {
				return
			}
		}
		if end != nil {
			yield(meter.Series{}, end)
		}
	}
}
