package meter_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

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
	if got, want := len(s.ByTool), meter.DefaultMaxTools+1; got != want {
		t.Errorf("%d names have a label, want %d", got, want)
	}
	if got := s.ByTool[meter.Other]["protocol"]; got != manyNames-meter.DefaultMaxTools {
		t.Errorf("%q has %d, want %d", meter.Other, got, manyNames-meter.DefaultMaxTools)
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
	if len(s.ByTool) != 51 || s.ByTool["tool-49"]["tool"] != 1 || s.ByTool[meter.Other]["tool"] != 951 {
		t.Errorf("%d labels, %d others", len(s.ByTool), s.ByTool[meter.Other]["tool"])
	}
}

// A peer that calls tools that do not exist must not use up the labels of real tools, whether it does so before or after they are listed.
func TestInventedNamesDoNotUseUpLabels(t *testing.T) {
	m := newMeter(t, meter.Options{MaxTools: 3})
	for i := range 10 {
		m.Count(failure(candor.CodeToolNotFound, "early-"+strconv.Itoa(i)), "protocol")
	}
	m.SetTools("read", "write", "list")
	m.Count(failure(candor.CodeToolNotFound, "late"), "protocol")
	for _, name := range []string{"read", "write", "list"} {
		m.Count(failure(candor.CodeInternalError, name), "tool")
	}
	s := m.Stats()
	for _, name := range []string{"read", "write", "list"} {
		if s.ByTool[name]["tool"] != 1 {
			t.Errorf("%s has no label of its own: %v", name, s.ByTool)
		}
	}
	if _, ok := s.ByTool["late"]; ok {
		t.Error("a name that was not announced got a label")
	}
}

func TestHostileToolNames(t *testing.T) {
	m := newMeter(t, meter.Options{})
	hostile := []string{
		strings.Repeat("x", 1<<20), "line\nbreak\r\x00\x1b[31m", "bad \xff utf-8", "\u202eright to left", `quote " and \ slash`,
	}
	m.SetTools(hostile...)
	for _, name := range hostile {
		m.Count(failure(candor.CodeInternalError, name), "tool")
	}
	s := m.Stats()
	if got := s.ByTool[meter.Other]; got != nil {
		t.Errorf("announced names are not found again: other has %v", got)
	}
	for name := range s.ByTool {
		if len(name) > candor.MaxCallInfo || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
			t.Errorf("label %.60q of %d bytes is not clean", name, len(name))
		}
	}
}

func TestToolsNamedOtherAndNone(t *testing.T) {
	m := newMeter(t, meter.Options{})
	m.SetTools(meter.Other, meter.None, "")
	for _, name := range []string{meter.Other, meter.None, ""} {
		m.Count(failure(candor.CodeInternalError, name), "tool")
	}
	s := m.Snapshot()
	want := []meter.ToolCount{{Tool: meter.None, Verdict: "tool", Count: 2}, {Tool: meter.Other, Verdict: "tool", Count: 1}}
	if !slices.Equal(s.Tools, want) {
		t.Errorf("tools are %v, want %v", s.Tools, want)
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
	if got[meter.Other] != 0 {
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
			t.Errorf("sample %q: %v allocations", sample, allocs)
		}
	}
}
