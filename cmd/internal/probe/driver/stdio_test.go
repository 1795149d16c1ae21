package driver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/probe/driver"
	"github.com/candor-mcp/candor/internal/probe"
)

// quick returns options for servers that answer at once, or never.
func quick(cases ...probe.Case) driver.Options {
	return driver.Options{
		Cases:    func(probe.Server, []probe.Tool) ([]probe.Case, []probe.Skip) { return cases, nil },
		Deadline: 400 * time.Millisecond, Quiet: 150 * time.Millisecond, Startup: time.Minute,
	}
}

// patient returns options for servers that answer or crash, even on a busy machine: every wait ends with an event.
func patient(cases ...probe.Case) driver.Options {
	o := quick(cases...)
	o.Deadline, o.Quiet = time.Minute, time.Minute
	return o
}

func server(who string) driver.Target {
	return driver.Target{Command: []string{os.Args[0]}, Env: []string{personality + "=" + who, "GORACE=atexit_sleep_ms=0"}}
}

func call(name, tool string, expect probe.Expect) probe.Case {
	params, _ := json.Marshal(map[string]any{"name": tool, "arguments": map[string]any{}})
	return probe.Case{Group: probe.GroupValidation, Name: name, Tool: tool, Method: "tools/call", Params: params, Expect: expect}
}

func raw(name, text string) probe.Case {
	return probe.Case{Group: probe.GroupProtocol, Name: name, Raw: []byte(text), Expect: probe.ExpectSilence}
}

var (
	missing   = call(probe.CaseMissingRequired, "read", probe.ExpectRefusal)
	extra     = call(probe.CaseExtraProperty, "read", probe.ExpectAnswer)
	malformed = raw(probe.CaseMalformedJSON, `{"jsonrpc":"2.0","id":9001,"method":`)
)

// driven runs a server and fails the test if there is no run.
func driven(t *testing.T, to driver.Target, o driver.Options) *probe.Run {
	t.Helper()
	run, err := driver.Drive(t.Context(), to, o)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// story returns a run as a list of cases with their outcomes.
func story(run *probe.Run) []string {
	var told []string
	for _, o := range run.Observations {
		told = append(told, o.Case.Name+" "+string(o.Outcome))
	}
	return told
}

func expect(t *testing.T, run *probe.Run, want ...string) {
	t.Helper()
	if got := story(run); !slices.Equal(got, want) {
		t.Errorf("seen %q, want %q; incomplete: %q, skipped: %v", got, want, run.Incomplete, run.Skipped)
	}
}

// paced runs a server that answers some cases and not others, and fails the test if the outcomes are not the given ones. On a busy machine
// an answer may miss its deadline, so it tries again with longer times, to which the server adapts its own.
func paced(t *testing.T, to driver.Target, o driver.Options, want ...string) *probe.Run {
	t.Helper()
	for pace := 1; ; pace *= 4 {
		scaled, at := o, to
		scaled.Deadline, scaled.Quiet = time.Duration(pace)*o.Deadline, time.Duration(pace)*o.Quiet
		at.Env = append(slices.Clone(to.Env), fmt.Sprintf("%s=%d", paceVariable, pace))
		if run := driven(t, at, scaled); slices.Equal(story(run), want) || pace == 64 {
			expect(t, run, want...)
			return run
		}
	}
}

func TestGoodServerAnswersEveryCase(t *testing.T) {
	t.Parallel()
	run := driven(t, server("good"), patient(missing, malformed, raw(probe.CaseBatch, `[{"jsonrpc":"2.0","id":9004,"method":"ping"},{"jsonrpc":"2.0","id":9005,"method":"zz/none"}]`)))
	expect(t, run, "missing_required answered", "malformed_json answered", "batch answered")
	s := run.Server
	if s.Name != "good" || s.Version != "1.2" || s.Protocol != "2025-11-25" || s.Transport != "stdio" || !s.Extension || !slices.Equal(s.Capabilities, []string{"extensions", "tools"}) {
		t.Errorf("the server is %+v", s)
	}
	if len(run.Tools) != 2 || !run.Tools[0].IsReadOnly() || run.Tools[1].IsReadOnly() || !slices.Equal(run.Tools[0].Codes, []string{"core.NOT_FOUND"}) {
		t.Errorf("the tools are %+v", run.Tools)
	}
	if got := run.Observations[0]; !strings.Contains(got.Response, "no such file") || !strings.Contains(got.Request, `"method":"tools/call"`) {
		t.Errorf("the first case is kept as %+v", got)
	}
	if got := run.Observations[2].Response; !strings.Contains(got, "9004") || !strings.Contains(got, "9005") {
		t.Errorf("the answer to a batch is %s", got)
	}
	if run.Restarts != 0 || run.Incomplete != "" || run.Greeting.Outcome != probe.OutcomeAnswered {
		t.Errorf("the run is %+v", run)
	}
}

func TestTheSameSeedGivesTheSameRun(t *testing.T) {
	t.Parallel()
	var runs [2]string
	for i := range runs {
		run := driven(t, server("noise"), patient(missing, malformed, extra))
		run.Begun, run.Greeting.Millis = time.Time{}, 0
		for j := range run.Observations {
			run.Observations[j].Millis = 0
			run.Observations[j].Stderr = "" // printed beside the answer: it may arrive a moment later
		}
		text, err := json.Marshal(run)
		if err != nil {
			t.Fatal(err)
		}
		runs[i] = string(text)
	}
	if runs[0] != runs[1] {
		t.Errorf("two runs differ:\n%s\n%s", runs[0], runs[1])
	}
}

func TestCrashedServerIsRestarted(t *testing.T) {
	t.Parallel()
	run := driven(t, server("crashes"), patient(malformed, missing))
	expect(t, run, "malformed_json crash", "missing_required answered")
	o := run.Observations[0]
	if o.Exit != "exit status 2" || !strings.Contains(o.Stderr, "panic:") || strings.Contains(o.Stderr, "zz9secretzz9") || run.Restarts != 1 {
		t.Errorf("the crash is kept as %+v, with %d restarts", o, run.Restarts)
	}
}

func TestCrashAfterAnAnswerBelongsToItsCase(t *testing.T) {
	t.Parallel()
	run := driven(t, server("dies-after"), patient(missing, raw("no_method", `{"jsonrpc":"2.0","id":9003}`)))
	expect(t, run, "missing_required answered", "missing_required_then_ping crash", "no_method answered")
	if got := run.Observations[1]; got.Exit != "exit status 5" || got.Case.Tool != "read" {
		t.Errorf("the death is kept as %+v", got)
	}
}

func TestRestartsAreLimited(t *testing.T) {
	t.Parallel()
	o := patient(malformed, raw("no_method", `{"jsonrpc":"2.0","id":9003}`), raw("null_message", `null`), missing)
	o.MaxRestarts = 1
	run := driven(t, server("crashes"), o)
	expect(t, run, "malformed_json crash", "no_method crash")
	if run.Restarts != 1 || !strings.Contains(run.Incomplete, "2 of 4 cases are left") {
		t.Errorf("%d restarts, incomplete: %q", run.Restarts, run.Incomplete)
	}
}

func TestHangingCallKeepsTheServer(t *testing.T) {
	t.Parallel()
	run := paced(t, server("hangs"), quick(missing, malformed), "missing_required hang", "malformed_json answered")
	if run.Restarts != 0 {
		t.Errorf("a live server was started again")
	}
}

func TestHungServerIsRestarted(t *testing.T) {
	t.Parallel()
	run := paced(t, server("hangs-whole"), quick(missing, malformed), "missing_required hang", "missing_required_then_ping hang", "malformed_json answered")
	if run.Restarts != 1 {
		t.Errorf("a hung server was started again %d times", run.Restarts)
	}
}

func TestServerThatStopsReadingTimesOut(t *testing.T) {
	t.Parallel()
	long := raw(probe.CaseOversize, `{"jsonrpc":"2.0","id":9008,"method":"`+strings.Repeat("x", 4<<20)+`"}`)
	paced(t, server("deaf"), quick(missing, long, malformed), "missing_required answered", "missing_required_then_ping hang", "oversize answered", "malformed_json answered")
}

// The second message is sent when the server no longer reads, and the pipe is full.
func TestServerThatStopsReadingBetweenMessagesTimesOut(t *testing.T) {
	t.Parallel()
	first := call(probe.CaseDuplicateID, "read", probe.ExpectRefusal)
	first.Params = []byte(`{"name":"read","arguments":"` + strings.Repeat("x", 4<<20) + `"}`)
	paced(t, server("deaf"), quick(first, malformed), "duplicate_id answered", "duplicate_id_then_ping hang", "malformed_json answered")
}

func TestSilenceOfALiveServerIsNoAnswer(t *testing.T) {
	t.Parallel()
	paced(t, server("silent"), quick(malformed, missing), "malformed_json no_answer", "missing_required answered")
	paced(t, server("no-ping"), quick(malformed, missing), "malformed_json answered", "missing_required answered")
}

func TestLateAnswerIsNotAssignedToTheNextCase(t *testing.T) {
	t.Parallel()
	o := quick(missing, raw("null_message", `null`), call(probe.CaseArgsNull, "write", probe.ExpectRefusal))
	o.Quiet, o.Deadline = 600*time.Millisecond, 300*time.Millisecond
	run := paced(t, server("late"), o, "missing_required hang", "null_message no_answer", "args_null answered")
	for _, o := range run.Observations[:2] {
		if o.Response != "" {
			t.Errorf("the late answer was taken for that of %s: %s", o.Case.Name, o.Response)
		}
	}
}

func TestNoiseIsRecordedAndDoesNotAnswer(t *testing.T) {
	t.Parallel()
	run := driven(t, server("noise"), patient(missing))
	o := run.Observations[0]
	if !slices.Equal(o.Noise, []string{"debug: called"}) || !strings.Contains(o.Response, "no such file") {
		t.Errorf("kept as %+v", o)
	}
	run = driven(t, server("banner"), patient(missing))
	if !slices.Equal(run.Greeting.Noise, []string{"Server listening on stdio"}) {
		t.Errorf("the banner is kept as %+v", run.Greeting)
	}
}

func TestFloodIsBounded(t *testing.T) {
	t.Parallel()
	run := driven(t, server("flood"), patient(missing, malformed))
	for _, o := range run.Observations {
		kept := 0
		for _, line := range o.Noise {
			kept += len(line)
		}
		if o.Outcome != probe.OutcomeAnswered || kept > 20*600 {
			t.Errorf("%s: %s, and %d bytes of noise are kept", o.Case.Name, o.Outcome, kept)
		}
	}
}

func TestAnswerOfAHundredMegabytesIsTruncated(t *testing.T) {
	t.Parallel()
	run := driven(t, server("huge"), patient(missing, malformed))
	expect(t, run, "missing_required answered", "malformed_json answered")
	if got := run.Observations[0]; got.Size < 100<<20 || len(got.Response) > 2<<20 {
		t.Errorf("%d bytes are told and %d kept", got.Size, len(got.Response))
	}
}

func TestAnswerWithAWrongIDCounts(t *testing.T) {
	t.Parallel()
	run := driven(t, server("wrong-ids"), patient(missing, extra))
	expect(t, run, "missing_required answered", "extra_property answered")
	if !strings.Contains(run.Observations[0].Response, "777777") {
		t.Errorf("kept as %s", run.Observations[0].Response)
	}
	run = driven(t, server("null-id"), patient(missing))
	expect(t, run, "missing_required answered")
}

func TestRequestsOfTheServerAreAnswered(t *testing.T) {
	t.Parallel()
	run := driven(t, server("asks"), patient(missing))
	expect(t, run, "missing_required answered")
	if got := run.Observations[0].Response; !strings.Contains(got, "-32601") || !strings.Contains(got, `"roots":[]`) {
		t.Errorf("the server was told %s", got)
	}
}

func TestServerGetsACleanEnvironment(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	t.Setenv("CANDOR_TEST_PRIVATE", "do not pass on")
	to := server("environment")
	to.Env = append(to.Env, "API_KEY=dummy")
	got := driven(t, to, patient(missing)).Observations[0].Response
	if strings.Contains(got, "CANDOR_TEST_PRIVATE") || !strings.Contains(got, "API_KEY=dummy") || !strings.Contains(got, "candor-probe-0/home") || !strings.Contains(got, `candor-probe-0/work"`) {
		t.Errorf("the environment of the server: %s", got)
	}
	if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
		t.Errorf("folders are left behind: %v %v", left, err)
	}
}

func TestDriveErrorsHaveANextStep(t *testing.T) {
	t.Parallel()
	mute := quick()
	mute.Startup = 300 * time.Millisecond
	for name, c := range map[string]struct {
		to   driver.Target
		o    driver.Options
		want string
	}{
		"no server":       {driver.Target{}, quick(), "give a command or --url"},
		"two servers":     {driver.Target{Command: []string{"x"}, URL: "http://x"}, quick(), "give only one"},
		"no such command": {driver.Target{Command: []string{"zz-no-such-command"}}, quick(), "install it"},
		"dies at start":   {server("dies-at-start"), quick(), "no API key (hint: it runs with almost no environment"},
		"never answers":   {server("mute"), mute, "did not answer initialize in time"},
		"no address":      {driver.Target{URL: "ftp://x"}, quick(), "not the URL of a server"},
		"nobody listens":  {driver.Target{URL: "http://127.0.0.1:1/mcp"}, quick(), "connection refused"},
		"no transport":    {driver.Target{URL: "http://x", Transport: "pigeon"}, quick(), "use auto"},
	} {
		run, err := driver.Drive(t.Context(), c.to, c.o)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "hint:") || run != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLivenessCasesSendTheirMessages(t *testing.T) {
	t.Parallel()
	reconnect := probe.Case{Group: probe.GroupLiveness, Name: probe.CaseDuplicateID, Method: "ping", Expect: probe.ExpectSilence}
	off := probe.Case{Group: probe.GroupLiveness, Name: probe.CaseCancel, Method: "ping", Expect: probe.ExpectSilence}
	huge := raw(probe.CaseOversize, `{"jsonrpc":"2.0","id":9008,"method":"zz","params":{"x":"`+strings.Repeat("x", 4<<20)+`"}}`)
	run := driven(t, server("good"), patient(reconnect, off, huge))
	expect(t, run, "duplicate_id answered", "cancel answered", "oversize answered")
	if o := run.Observations[0]; strings.Count(o.Response, "\n") != 1 || !strings.Contains(o.Request, "tools/list") {
		t.Errorf("the same id twice is %s, answered by %s", o.Request, o.Response)
	}
	if o := run.Observations[1]; !strings.Contains(o.Request, "notifications/cancelled") {
		t.Errorf("the cancelled call is %s", o.Request)
	}
	if o := run.Observations[2]; len(o.Request)+len(o.Case.Raw) > 100<<10 {
		t.Errorf("the oversize request is kept with %d and %d bytes", len(o.Request), len(o.Case.Raw))
	}
}

func TestCancelledDriveReturnsTheRun(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o := quick(missing, extra, malformed)
	o.Progress = func(done, total int, _ string) {
		if done == 1 && total == 3 {
			cancel()
		}
	}
	run, err := driver.Drive(ctx, server("good"), o)
	if err != nil {
		t.Fatal(err)
	}
	expect(t, run, "missing_required answered")
	if run.Incomplete == "" {
		t.Error("the run is not marked as incomplete")
	}
}
