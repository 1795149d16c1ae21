package driver_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/probe/driver"
	"github.com/candor-mcp/candor/internal/probe"
	"github.com/candor-mcp/candor/wire"
)

func TestCallsWithPossibleEffectsAreSkipped(t *testing.T) {
	t.Parallel()
	forReal := call("extra_property", "write", probe.ExpectAnswer)
	disguised := call("nonexistent", "write", probe.ExpectFailure)
	disguised.Tool = ""
	hidden := raw("batch", `[{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"write"}}]`)
	refused := call("missing_required", "write", probe.ExpectRefusal)
	run := driven(t, server("good"), patient(forReal, disguised, hidden, refused, extra))
	expect(t, run, "missing_required answered", "extra_property answered")
	if len(run.Skipped) != 3 || !strings.Contains(run.Skipped[0].Reason, "read-only") || run.Skipped[0].Tool != "write" {
		t.Errorf("skipped %+v", run.Skipped)
	}
	for _, widen := range []func(*driver.Options){
		func(o *driver.Options) { o.Allow = []string{"write"} },
		func(o *driver.Options) { o.Yes = true },
	} {
		o := patient(forReal, disguised, hidden)
		widen(&o)
		if run := driven(t, server("good"), o); len(run.Observations) != 3 || len(run.Skipped) != 0 {
			t.Errorf("with leave, %d cases are made and %v skipped", len(run.Observations), run.Skipped)
		}
	}
}

func TestHangingToolIsSkippedAfterThreeCases(t *testing.T) {
	t.Parallel()
	var cases []probe.Case
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		cases = append(cases, call(name, "read", probe.ExpectRefusal))
	}
	o := quick(append(cases, call(probe.CaseMissingRequired, "write", probe.ExpectRefusal))...)
	run := paced(t, server("hangs"), o, "a hang", "b hang", "c hang", "missing_required answered")
	if len(run.Skipped) != 2 {
		t.Errorf("skipped %v", run.Skipped)
	}
}

func TestTotalTimeLimitEndsTheRun(t *testing.T) {
	t.Parallel()
	o := quick(missing, extra)
	o.Deadline, o.Total = 30*time.Second, 3*time.Second
	run := driven(t, server("hangs-whole"), o)
	if !strings.Contains(run.Incomplete, "time limit for the whole run") || len(run.Observations) != 0 {
		t.Errorf("incomplete: %q, seen %q", run.Incomplete, story(run))
	}
}

func TestDriveFailsWithoutAHandshake(t *testing.T) {
	t.Parallel()
	o := quick(missing)
	o.Total = 500 * time.Millisecond
	if run, err := driver.Drive(t.Context(), server("mute"), o); err == nil || !strings.Contains(err.Error(), "time limit for the whole run") {
		t.Errorf("a server that says nothing until the time is up: %v, %+v", err, run)
	}
	stop, cancel := context.WithCancel(t.Context())
	cancel()
	if run, err := driver.Drive(stop, server("mute"), quick(missing)); err == nil || !strings.Contains(err.Error(), "stopped") {
		t.Errorf("a run that was stopped at once: %v, %+v", err, run)
	}
}

// TestUnlistedToolsMakeTheRunIncomplete has a server that announces tools and does not list them. A crash during the
// listing must not be attributed to the next case.
func TestUnlistedToolsMakeTheRunIncomplete(t *testing.T) {
	t.Parallel()
	first := raw(probe.CaseNotJSONRPC, `{"id":9002,"method":"tools/call"}`)
	for who, want := range map[string]string{"list-dies": "tools/list was not answered (exit status 4); it printed: the database is locked", "list-fails": "not answered with a list", "no-tools": ""} {
		run := driven(t, server(who), patient(first))
		expect(t, run, "not_jsonrpc answered")
		if len(run.Skipped) != 1 || !strings.Contains(run.Incomplete, want) || (run.Incomplete == "") != (want == "") {
			t.Errorf("%s: incomplete %q, skipped %v", who, run.Incomplete, run.Skipped)
		}
	}
}

// TestLongAnswerStaysAMessage has a long error with its isError member at the end.
func TestLongAnswerStaysAMessage(t *testing.T) {
	t.Parallel()
	run := driven(t, server("long"), patient(missing))
	o := run.Observations[0]
	m := wire.Parse([]byte(o.Response), wire.Limits{})
	if failed, _ := m.Result().Path("isError").Bool(); !failed || len(o.Response) > 100<<10 || o.Size < 1<<20 {
		t.Errorf("kept: %d bytes of %d, failed: %t, %q", len(o.Response), o.Size, failed, m.Shape())
	}
}

// upstream is a fake service that records the calls of Begin and End.
type upstream struct{ told []string }

func (u *upstream) Begin(fault string) { u.told = append(u.told, "begin "+fault) }
func (u *upstream) End() int           { u.told = append(u.told, "end"); return 3 }
func (u *upstream) Environ() []string  { return []string{"UPSTREAM_HERE=yes"} }
func (u *upstream) Wrap(command []string) []string {
	return append([]string{"/usr/bin/env", "WRAPPED=yes"}, command...)
}

func TestUpstreamFailsOnlyDuringItsCase(t *testing.T) {
	t.Parallel()
	fault := call(probe.CaseUpstream429, "read", probe.ExpectFailure)
	fault.Group, fault.Fault = probe.GroupUpstream, "429"
	run := driven(t, server("environment"), patient(fault))
	if len(run.Observations) != 0 || len(run.Skipped) != 1 {
		t.Errorf("without an upstream %q are made", story(run))
	}
	u := &upstream{}
	absent := call(probe.CaseNonexistent, "read", probe.ExpectFailure)
	absent.Group = probe.GroupDomain
	o := patient(fault, missing, absent)
	o.Upstream = u
	run = driven(t, server("environment"), o)
	if want := []string{"begin 429", "end", "begin ", "end", "begin 404", "end"}; !slices.Equal(u.told, want) {
		t.Errorf("the upstream was told %q, want %q", u.told, want)
	}
	if got := run.Observations[0]; got.Hits != 3 || !strings.Contains(got.Response, "UPSTREAM_HERE=yes") || !strings.Contains(got.Response, "WRAPPED=yes") {
		t.Errorf("kept as %+v", got)
	}
}

// TestMessagesAfterAnAnswerBelongToItsCase checks that they are not attributed to the next case.
func TestMessagesAfterAnAnswerBelongToItsCase(t *testing.T) {
	t.Parallel()
	run := driven(t, server("talks"), patient(missing, raw(probe.CaseNoMethod, `{"jsonrpc":"2.0","id":9003}`)))
	expect(t, run, "missing_required answered", "no_method answered")
	if o := run.Observations[0]; o.Extra != 1 || o.Notices != 3 || !slices.Equal(o.Noise, []string{"debug: done"}) {
		t.Errorf("seen of the first: %+v", o)
	}
	if o := run.Observations[1]; o.Extra != 0 || o.Notices != 0 || len(o.Noise) != 0 {
		t.Errorf("seen of the second: %+v", o)
	}
	twice := probe.Case{Group: probe.GroupLiveness, Name: probe.CaseDuplicateID, Method: "ping", Expect: probe.ExpectSilence}
	if o := driven(t, server("good"), patient(twice)).Observations[0]; o.Extra != 0 || strings.Count(o.Response, `"id":`) != 2 {
		t.Errorf("two answers to two requests under one id: %+v", o)
	}
}

func TestContinuedCallDiffersFromCrossingAnswer(t *testing.T) {
	t.Parallel()
	off := call(probe.CaseCancel, "read", probe.ExpectSilence)
	off.Group = probe.GroupLiveness
	for who, want := range map[string]struct {
		outcome probe.Outcome
		kept    bool
	}{"late": {probe.OutcomeAnswered, true}, "middling": {probe.OutcomeAnswered, false}, "slow-at-first": {probe.OutcomeAnswered, false}, "crosses": {probe.OutcomeNoAnswer, false}, "hangs": {probe.OutcomeNoAnswer, false}, "good": {probe.OutcomeAnswered, false}} {
		t.Run(who, func(t *testing.T) {
			t.Parallel()
			o, story := quick(off), []string{"cancel " + string(want.outcome)}
			if who == "slow-at-first" {
				o, story = quick(extra, off), []string{"extra_property answered", "cancel " + string(want.outcome)}
			}
			o.Deadline, o.Quiet = 2*time.Second, time.Second
			seen := paced(t, server(who), o, story...).Observations
			if seen := seen[len(seen)-1]; seen.Kept != want.kept {
				t.Errorf("kept %t", seen.Kept)
			}
		})
	}
}
