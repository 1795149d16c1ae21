package meter_test

import (
	"slices"
	"strconv"
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/kg"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/meter"
)

const manyNames = 100_000

func TestSeenToolsLimitLabels(t *testing.T) {
	m := newMeter(t, meter.Options{})
	for i := range manyNames {
		m.Count(failure(candor.CodeToolNotFound, "made-up-"+strconv.Itoa(i)), "protocol")
	}
	s := m.Stats()
	if got, want := len(s.ByTool), 200+1; got != want {
		t.Errorf("%d names have a label, want %d", got, want)
	}
	if got := s.ByTool["other"]["protocol"]; got != manyNames-200 {
		t.Errorf("%q has %d, want %d", "other", got, manyNames-200)
	}
	if s.Total != manyNames {
		t.Errorf("total %d, want %d", s.Total, manyNames)
	}
}

func TestSetToolsLimitsLabels(t *testing.T) {
	m := newMeter(t, meter.Options{MaxTools: 50})
	names := make([]string, manyNames)
	for i := range names {
		names[i] = "tool-" + strconv.Itoa(i)
	}
	m.SetTools(names...)
	m.SetTools("late")
	for _, name := range append(names[:1000], "late") {
		m.Count(failure(candor.CodeInternalError, name), "tool")
	}
	s := m.Stats()
	if len(s.ByTool) != 51 || s.ByTool["tool-49"]["tool"] != 1 || s.ByTool["other"]["tool"] != 951 {
		t.Errorf("%d labels, %d others", len(s.ByTool), s.ByTool["other"]["tool"])
	}
}

func TestCountEveryCode(t *testing.T) {
	m := newMeter(t, meter.Options{})
	var all []candor.Code
	for c := range candor.Codes() {
		all = append(all, c)
		m.Count(failure(c, "t"), "tool")
	}
	var got []candor.Code
	for _, row := range m.Snapshot().Codes {
		if row.Count != 1 {
			t.Errorf("%v was counted %d times", row.Code, row.Count)
		}
		got = append(got, row.Code)
	}
	if !slices.Equal(got, all) {
		t.Errorf("%d of %d codes were counted", len(got), len(all))
	}
}

func TestVerdictNames(t *testing.T) {
	m := newMeter(t, meter.Options{})
	for _, v := range contract.Verdicts() {
		m.Count(failure(candor.CodeInternalError, "t"), string(v))
	}
	got := m.Stats().ByTool["t"]
	for _, v := range contract.Verdicts() {
		if want := v.Failure(); (got[string(v)] == 1) != want {
			t.Errorf("verdict %s: counted %d", v, got[string(v)])
		}
	}
	if got["other"] != 0 {
		t.Errorf("a verdict of the contract is counted as other: %v", got)
	}
}

func TestCountDoesNotAllocate(t *testing.T) {
	known, unknown := failure(kg.Full, "kg/add"), failure(candor.CodeToolNotFound, "made-up")
	for _, sample := range []meter.Sample{{}, {Every: 7}, {Rate: 1000, Burst: 10}} {
		m := newMeter(t, meter.Options{Sample: sample})
		m.SetTools("kg/add")
		m.Count(known, "tool")
		allocs := testing.AllocsPerRun(1000, func() {
			m.Count(known, "tool")
			m.Count(unknown, "protocol")
			m.Count(nil, "lost")
			m.CountSuppressed()
			m.CountUnrecorded(known)
		})
		if allocs != 0 {
			t.Errorf("sample %+v: %v allocations", sample, allocs)
		}
	}
}
