package candor_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/timestamp"
)

var errEOF = io.EOF

// full returns an error with every field set.
func full() *candor.Error {
	return candor.RetryableAfter(candor.CodeUpstreamTimeout, 2*time.Second, "The weather service is slow.",
		candor.WithSuggestion("Wait two seconds."), candor.WithDetails(map[string]any{"city": "Oslo"}), candor.WithCause(errEOF),
		candor.WithOrigin(candor.PartyGateway, true), candor.WithRef("r-1"), candor.WithTime(past), candor.WithStack("main.f (main.go:1)"),
		candor.WithCallInfo(candor.CallInfo{Tool: "weather", Role: "PLANNER", SessionID: "s-1", WorkspaceRoot: "/srv/app", InvariantID: "I", PhaseID: "P", PlanHash: "H"}))
}

const fullJSON = `{"code":"UPSTREAM_TIMEOUT","class":"timeout","message":"The weather service is slow.",` +
	`"retry":{"kind":"retryable_after_ms","afterMs":2000},"suggestion":"Wait two seconds.","details":{"city":"Oslo"},"domain":"candor","number":4051,` +
	`"origin":{"by":"gateway","inferred":true},"ref":"r-1","tool":"weather","role":"PLANNER","session_id":"s-1","workspace_root":"ROOT",` +
	`"invariant_id":"I","phase_id":"P","plan_hash":"H","cause":{"message":"EOF","code":null,"name":"Error"},"timestamp":"2001-02-03T03:05:06.789Z"STACK}`

func TestTheCanonicalFormIsFixed(t *testing.T) {
	e := full()
	digest := candor.RootDigest("/srv/app")
	form := func(root, stack string) string {
		return strings.NewReplacer("ROOT", root, "STACK", stack).Replace(fullJSON)
	}
	if got, want := marshal(t, e), form(digest, ""); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if got, want := string(e.AppendJSON([]byte("x"), candor.JSONOptions{Stack: true, PlainRoot: true})), "x"+form("/srv/app", `,"stack":"main.f (main.go:1)"`); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	bare := `{"code":"TIMEOUT","class":"timeout","message":"No answer came in time.","retry":{"kind":"retryable_after_ms","afterMs":1000},"suggestion":"` +
		candor.CodeTimeout.Action() + `","domain":"candor","number":4041,"origin":{"by":"tool","inferred":false},"ref":""}`
	if got := marshal(t, candor.New(candor.CodeTimeout, "")); got != bare {
		t.Errorf("%s\nwant\n%s", got, bare)
	}
	if got := marshal(t, struct{ E error }{e}); got != `{"E":`+form(digest, "")+`}` {
		t.Errorf("inside a struct: %s", got)
	}
}

func TestRootsAreShownToTheirOwnSessionOnly(t *testing.T) {
	digest := candor.RootDigest("/srv/app")
	if len(digest) != len("sha256:")+16 || candor.RootDigest(digest) != digest || candor.RootDigest("") != "" {
		t.Errorf("digest %q", digest)
	}
	// A root that only begins like a digest is treated as a path.
	for _, root := range []string{"sha256:/home/ann", "sha256:", "sha256:0123456789abcde", "sha256:0123456789abcdeg", "sha256:0123456789ABCDEF", "sha256:0123456789abcdef0"} {
		if got := candor.RootDigest(root); got == root || strings.Contains(got, "ann") {
			t.Errorf("RootDigest(%q) = %q", root, got)
		}
		raw := marshal(t, candor.New(candor.CodeTimeout, "", candor.WithSession("", "", root)))
		if !strings.Contains(raw, `"workspace_root":"`+candor.RootDigest(root)+`"`) {
			t.Errorf("%q: %s", root, raw)
		}
	}
}

func TestAppendJSONDoesNotAllocate(t *testing.T) {
	e := full()
	dst := make([]byte, 0, 4096)
	for _, o := range []candor.JSONOptions{{}, {Stack: true}, {Stack: true, PlainRoot: true}} {
		if n := testing.AllocsPerRun(200, func() { dst = e.AppendJSON(dst[:0], o) }); n != 0 {
			t.Errorf("%+v: %v allocations", o, n)
		}
	}
	if n := testing.AllocsPerRun(200, func() { dst = (&candor.Error{}).AppendJSON(dst[:0], candor.JSONOptions{}) }); n != 0 {
		t.Errorf("zero: %v allocations", n)
	}
}

func TestErrorsPrintThemselves(t *testing.T) {
	e := full()
	const short = "UPSTREAM_TIMEOUT: The weather service is slow."
	for format, want := range map[string]string{
		"%v": short, "%s": short, "%q": `"` + short + `"`, "%#v": short, "%d": short,
	} {
		if got := fmt.Sprintf(format, e); got != want {
			t.Errorf("%s: %q, want %q", format, got, want)
		}
	}
	block := fmt.Sprintf("%+v", e)
	for _, part := range []string{
		short + "\n", "candor/UPSTREAM_TIMEOUT 4051", "timeout", "retryable_after_ms 2000", "Wait two seconds.", `{"city":"Oslo"}`,
		"weather", "s-1", "r-1", "2001-02-03T03:05:06.789Z", "EOF", "\nmain.f (main.go:1)",
	} {
		if !strings.Contains(block, part) {
			t.Errorf("%%+v lacks %q:\n%s", part, block)
		}
	}
	if got := fmt.Errorf("while forecasting: %w", e).Error(); got != "while forecasting: "+short {
		t.Error(got)
	}
}

func TestErrorsLogThemselves(t *testing.T) {
	drop := func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey || a.Key == slog.LevelKey {
			return slog.Attr{}
		}
		return a
	}
	log := func(e any, handler func(io.Writer, *slog.HandlerOptions) slog.Handler) string {
		var b bytes.Buffer
		slog.New(handler(&b, &slog.HandlerOptions{ReplaceAttr: drop})).Error("failed", slog.Any("err", e))
		return strings.TrimSpace(b.String())
	}
	asText := func(w io.Writer, o *slog.HandlerOptions) slog.Handler { return slog.NewTextHandler(w, o) }
	asJSON := func(w io.Writer, o *slog.HandlerOptions) slog.Handler { return slog.NewJSONHandler(w, o) }
	want := `msg=failed err.code=UPSTREAM_TIMEOUT err.class=timeout err.message="The weather service is slow." err.retry="retryable_after_ms 2000" ` +
		`err.domain=candor err.tool=weather err.session_id=s-1 err.ref=r-1 err.cause=EOF err.details="{\"city\":\"Oslo\"}"`
	if got := log(full(), asText); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	var line struct {
		Err struct{ Code, Class, Message, Retry, Tool string }
	}
	if err := json.Unmarshal([]byte(log(full(), asJSON)), &line); err != nil || line.Err.Code != "UPSTREAM_TIMEOUT" || line.Err.Tool != "weather" {
		t.Errorf("%+v, %v", line, err)
	}
	for _, e := range []*candor.Error{{}, nil} {
		for _, h := range []func(io.Writer, *slog.HandlerOptions) slog.Handler{asText, asJSON} {
			if got := log(e, h); !strings.Contains(got, "invalid error") {
				t.Errorf("an invalid error is logged as %s", got)
			}
		}
	}
}

// TestTheZeroErrorSaysSo checks that every form of the zero Error reports that it is invalid.
func TestTheZeroErrorSaysSo(t *testing.T) {
	var e candor.Error
	for how, got := range map[string]string{
		"Error": e.Error(), "%v": fmt.Sprintf("%v", &e), "%s": fmt.Sprintf("%s", &e), "%q": fmt.Sprintf("%q", &e), "%+v": fmt.Sprintf("%+v", &e),
		"Validate": fmt.Sprint(e.Validate()), "LogValue": e.LogValue().String(), "wrapped": fmt.Errorf("x: %w", &e).Error(),
	} {
		if !strings.Contains(got, "invalid error: it has no registered code") {
			t.Errorf("%s: %q", how, got)
		}
	}
	if raw := marshal(t, &e); !strings.Contains(raw, `"code":"UNCODED_ERROR"`) || !strings.Contains(raw, `"number":4002`) || !strings.Contains(raw, `"message":"`+candor.CodeUncodedError.Sentence()) {
		t.Error(raw)
	}
}

// TestNilErrorsAreSafe calls every method on a nil *Error, which From returns for nil.
func TestNilErrorsAreSafe(t *testing.T) {
	var e *candor.Error
	if e.With(candor.WithTool("t")) != nil || e.Unwrap() != nil || e.Validate() == nil {
		t.Error("nil does not stay nil, or is valid")
	}
	if e.Code().Valid() || e.Class() != "" || e.Message() != "" || e.Retry() != candor.NoRetry() || e.Suggestion() != "" || !e.Details().IsZero() ||
		e.Origin() != (candor.Origin{}) || e.Ref() != "" || e.CallInfo() != (candor.CallInfo{}) || !e.Cause().IsZero() || !e.Time().IsZero() || e.Stack() != "" {
		t.Error("nil has properties")
	}
	for _, got := range []string{marshal(t, e), string(e.AppendJSON(nil, candor.JSONOptions{Stack: true}))} {
		if got != "null" {
			t.Errorf("nil is written %s", got)
		}
	}
	for _, format := range []string{"%v", "%+v", "%s", "%q"} {
		if got := fmt.Sprintf(format, e); !strings.Contains(got, "nil error") {
			t.Errorf("%s: %q", format, got)
		}
	}
	if errors.Is(e, io.EOF) || e.LogValue().String() == "" {
		t.Error("nil is something")
	}
}

func TestTimesAreUTCWithMilliseconds(t *testing.T) {
	e := candor.New(candor.CodeTimeout, "", candor.WithTime(past))
	if e.Time().Location() != time.UTC || e.Time().Nanosecond() != 789_000_000 {
		t.Errorf("%v", e.Time())
	}
	for in, want := range map[string]string{
		"2026-01-19T15:32:10.123Z": "2026-01-19T15:32:10.123Z", "2026-01-19T16:32:10.123456+01:00": "2026-01-19T15:32:10.123Z", "2026-01-19T15:32:10Z": "2026-01-19T15:32:10.000Z",
	} {
		if got, err := timestamp.Parse(in); err != nil || got.Format(candor.TimeLayout) != want {
			t.Errorf("%s was read as %v, %v", in, got, err)
		}
	}
	if _, err := timestamp.Parse("yesterday"); err == nil {
		t.Error("yesterday is no time")
	}
}
