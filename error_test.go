package candor_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/kaiza"
	"github.com/candor-mcp/candor/codes/ratelimit"
	"github.com/candor-mcp/candor/internal/limits"
	"github.com/candor-mcp/candor/internal/rootdigest"
	"github.com/candor-mcp/candor/internal/timestamp"
)

// TestErrorsAreSharedBetweenGoroutines reads and copies an error in many goroutines, for the race detector.
func TestErrorsAreSharedBetweenGoroutines(t *testing.T) {
	e := full()
	option := candor.WithDetails(map[string]any{"shared": []int{1}})
	want := marshal(t, e)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 50 {
				c := e.With(option, candor.WithTool(string(rune('a'+i))))
				if got := string(e.AppendJSON(nil, candor.JSONOptions{})); got != want || c.Details() == e.Details() {
					t.Errorf("%s", got)
				}
				_, _, _ = e.Error(), e.LogValue(), e.Validate()
				candor.LookupSymbol("TIMEOUT")
				candor.CodeOf(e)
				_ = errors.Is(e, io.EOF)
			}
		})
	}
	wg.Wait()
}

func TestConstructorsSayWhatTheyAreCalled(t *testing.T) {
	cause := errors.New("boom")
	for name, test := range map[string]struct {
		e      *candor.Error
		code   candor.Code
		retry  candor.Retry
		origin candor.Party
		where  candor.CallInfo
	}{
		"New":                  {candor.New(candor.CodeTimeout, ""), candor.CodeTimeout, candor.CodeTimeout.Retry(), candor.PartyTool, candor.CallInfo{}},
		"NotRetryable":         {candor.NotRetryable(candor.CodeTimeout, ""), candor.CodeTimeout, candor.NoRetry(), candor.PartyTool, candor.CallInfo{}},
		"RetryableImmediately": {candor.RetryableImmediately(candor.CodeTimeout, ""), candor.CodeTimeout, candor.RetryNow(), candor.PartyTool, candor.CallInfo{}},
		"RetryableAfter":       {candor.RetryableAfter(candor.CodeTimeout, 3*time.Second, ""), candor.CodeTimeout, candor.RetryIn(3 * time.Second), candor.PartyTool, candor.CallInfo{}},
		"ToolFailure":          {candor.New(candor.CodeTimeout, "", candor.WithTool("t")), candor.CodeTimeout, candor.CodeTimeout.Retry(), candor.PartyTool, candor.CallInfo{Tool: "t"}},
		"an option wins":       {candor.NotRetryable(candor.CodeTimeout, "", candor.WithRetry(candor.RetryNow())), candor.CodeTimeout, candor.RetryNow(), candor.PartyTool, candor.CallInfo{}},
	} {
		e := test.e
		if e.Code() != test.code || e.Retry() != test.retry || e.Origin() != (candor.Origin{By: test.origin}) || e.CallInfo() != test.where || e.Class() != test.code.Class() {
			t.Errorf("%s: %+v", name, e)
		}
		if e.Message() != test.code.Info().Sentence || e.With(candor.WithMessage("mine")).Message() != "mine" {
			t.Errorf("%s: message %q", name, e.Message())
		}
		if c := e.With(candor.WithCause(cause)); !errors.Is(c, cause) || c.Cause().Message != "boom" {
			t.Errorf("%s: the cause is lost", name)
		}
	}
}

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
	digest := rootdigest.Of("/srv/app")
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
		candor.CodeTimeout.Info().Action + `","domain":"candor","number":4041,"origin":{"by":"tool","inferred":false},"ref":""}`
	if got := marshal(t, candor.New(candor.CodeTimeout, "")); got != bare {
		t.Errorf("%s\nwant\n%s", got, bare)
	}
	if got := marshal(t, struct{ E error }{e}); got != `{"E":`+form(digest, "")+`}` {
		t.Errorf("inside a struct: %s", got)
	}
}

func TestRootsAreShownToTheirOwnSessionOnly(t *testing.T) {
	digest := rootdigest.Of("/srv/app")
	if len(digest) != len("sha256:")+16 || rootdigest.Of(digest) != digest || rootdigest.Of("") != "" {
		t.Errorf("digest %q", digest)
	}
	// A root that only begins like a digest is treated as a path.
	for _, root := range []string{"sha256:/home/ann", "sha256:", "sha256:0123456789abcde", "sha256:0123456789abcdeg", "sha256:0123456789ABCDEF", "sha256:0123456789abcdef0"} {
		if got := rootdigest.Of(root); got == root || strings.Contains(got, "ann") {
			t.Errorf("RootDigest(%q) = %q", root, got)
		}
		raw := marshal(t, candor.New(candor.CodeTimeout, "", candor.WithSession("", "", root)))
		if !strings.Contains(raw, `"workspace_root":"`+rootdigest.Of(root)+`"`) {
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
		if !strings.Contains(got, "invalid error: no registered code") {
			t.Errorf("%s: %q", how, got)
		}
	}
	if raw := marshal(t, &e); !strings.Contains(raw, `"code":"UNCODED_ERROR"`) || !strings.Contains(raw, `"number":4002`) || !strings.Contains(raw, `"message":"`+candor.CodeUncodedError.Info().Sentence) {
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
		if got, err := timestamp.Parse(in); err != nil || got.Format(timestamp.Layout) != want {
			t.Errorf("%s was read as %v, %v", in, got, err)
		}
	}
	if _, err := timestamp.Parse("yesterday"); err == nil {
		t.Error("yesterday is no time")
	}
}

// plainError is the error of a server without Candor: without redaction and limits.
type plainError struct {
	Code       string         `json:"code"`
	Class      string         `json:"class"`
	Message    string         `json:"message"`
	Retry      plainRetry     `json:"retry"`
	Suggestion string         `json:"suggestion"`
	Details    map[string]any `json:"details"`
	Domain     string         `json:"domain"`
	Number     int            `json:"number"`
	Ref        string         `json:"ref"`
	Tool       string         `json:"tool"`
}

type plainRetry struct {
	Kind    string `json:"kind"`
	AfterMs int64  `json:"afterMs,omitempty"`
}

func BenchmarkNewAndAppendJSON(b *testing.B) {
	dst := make([]byte, 0, 4096)
	b.ReportAllocs()
	for b.Loop() {
		e := candor.RetryableAfter(candor.CodeUpstreamTimeout, time.Second, "The weather service did not answer in time.",
			candor.WithTool("forecast"), candor.WithRef("01J9ZC4T3Q"), candor.WithDetails(map[string]any{"city": "Oslo", "hours": 24}))
		dst = e.AppendJSON(dst[:0], candor.JSONOptions{})
	}
}

func BenchmarkPlainStructAndMarshal(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		e := &plainError{
			Code: "UPSTREAM_TIMEOUT", Class: "timeout", Message: "The weather service did not answer in time.", Retry: plainRetry{"retryable_after_ms", 1000},
			Suggestion: candor.CodeUpstreamTimeout.Info().Action, Domain: "candor", Number: 4051, Ref: "01J9ZC4T3Q", Tool: "forecast",
			Details: map[string]any{"city": "Oslo", "hours": 24},
		}
		if _, err := json.Marshal(e); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendJSON(b *testing.B) {
	e := full()
	dst := make([]byte, 0, 4096)
	b.ReportAllocs()
	for b.Loop() {
		dst = e.AppendJSON(dst[:0], candor.JSONOptions{})
	}
	b.SetBytes(int64(len(dst)))
}

// TestW3RetryIsAClosedSum checks that there are three kinds, that a delay exists exactly if the kind has one, and that nothing
// else can be built or read.
func TestW3RetryIsAClosedSum(t *testing.T) {
	ms := func(n int64) *int64 { return &n }
	week := limits.RetryAfter.Milliseconds()
	t.Run("read", func(t *testing.T) {
		for _, test := range []struct {
			kind  candor.RetryKind
			after *int64
			want  candor.Retry
			json  string // "" if it must be rejected
		}{
			{"not_retryable", nil, candor.NoRetry(), `{"kind":"not_retryable"}`},
			{"retryable_immediate", nil, candor.RetryNow(), `{"kind":"retryable_immediate"}`},
			{"retryable_after_ms", ms(1), candor.RetryIn(1), `{"kind":"retryable_after_ms","afterMs":1}`},
			{"retryable_after_ms", ms(week + 1), candor.RetryIn(limits.RetryAfter), `{"kind":"retryable_after_ms","afterMs":604800000}`},
			{"retryable_after_ms", ms(math.MaxInt64), candor.RetryIn(limits.RetryAfter), `{"kind":"retryable_after_ms","afterMs":604800000}`},
			{"retryable_after_ms", nil, candor.Retry{}, ""},
			{"retryable_after_ms", ms(0), candor.Retry{}, ""},
			{"retryable_after_ms", ms(-1), candor.Retry{}, ""},
			{"retryable_after_ms", ms(math.MinInt64), candor.Retry{}, ""},
			{"not_retryable", ms(1), candor.Retry{}, ""},
			{"retryable_immediate", ms(0), candor.Retry{}, ""},
			{"retryable", ms(0), candor.Retry{}, ""}, // a fourth kind, sent by a real server
			{"retryable", nil, candor.Retry{}, ""},
			{"", nil, candor.Retry{}, ""},
			{"NOT_RETRYABLE", nil, candor.Retry{}, ""},
			{"not_retryable ", nil, candor.Retry{}, ""},
		} {
			got, err := candor.ParseRetry(test.kind, test.after)
			if (err != nil) != (test.json == "") || got != test.want {
				t.Errorf("ParseRetry(%q, %v) = %v, %v", test.kind, test.after, got, err)
			}
			if err == nil && marshal(t, got) != test.json {
				t.Errorf("%v is written %s, want %s", got, marshal(t, got), test.json)
			}
		}
	})
	t.Run("build", func(t *testing.T) {
		for d, want := range map[time.Duration]string{
			math.MinInt64:    "retryable_immediate",
			-time.Second:     "retryable_immediate",
			0:                "retryable_immediate",
			1:                "retryable_after_ms 1",
			time.Millisecond: "retryable_after_ms 1",
			1000001:          "retryable_after_ms 2",
			2 * time.Second:  "retryable_after_ms 2000",
			math.MaxInt64:    "retryable_after_ms 604800000",
		} {
			r := candor.RetryIn(d)
			if r.String() != want || !r.Retryable() {
				t.Errorf("RetryIn(%v) = %v, want %s", d, r, want)
			}
		}
		if (candor.Retry{}) != candor.NoRetry() || candor.NoRetry().Retryable() || candor.NoRetry().String() != "not_retryable" {
			t.Error("who says nothing promises nothing: the zero Retry is not_retryable")
		}
	})
	t.Run("every advice has a delay iff its kind does", func(t *testing.T) {
		for c := range candor.Codes() {
			r := c.Retry()
			if (r.Kind() == candor.RetryAfterMs) != (r.AfterMs() > 0) || r.After() != time.Duration(r.AfterMs())*time.Millisecond {
				t.Errorf("%v: %v has the delay %d", c, r, r.AfterMs())
			}
		}
	})
	t.Run("JSON", func(t *testing.T) {
		for _, r := range []candor.Retry{candor.NoRetry(), candor.RetryNow(), candor.RetryIn(1500 * time.Millisecond)} {
			var back candor.Retry
			if err := json.Unmarshal([]byte(marshal(t, r)), &back); err != nil || back != r {
				t.Errorf("%v came back as %v, %v", r, back, err)
			}
		}
		for _, bad := range []string{
			`{"kind":"retryable","suggestedDelayMs":0}`, `{"kind":"retryable_after_ms"}`, `{"kind":"retryable_after_ms","afterMs":1.5}`,
			`{"kind":"retryable_after_ms","afterMs":"1"}`, `{"kind":"not_retryable","afterMs":1}`, `{}`, `"not_retryable"`, `true`, `[]`,
		} {
			was := candor.RetryNow()
			got := was
			if err := json.Unmarshal([]byte(bad), &got); err == nil || got != was {
				t.Errorf("%s was read as %v, %v", bad, got, err)
			}
		}
	})
}

var advice = []candor.Retry{candor.NoRetry(), candor.RetryNow(), candor.RetryIn(2 * time.Second)}

// words are suggestions, each with the advice that it contradicts.
var words = map[string][3]bool{ // never, immediate, after
	"Try again.":                              {true, false, false},
	"Retry the call.":                         {true, false, false},
	"Please retry immediately.":               {true, false, true},
	"Do not retry.":                           {false, true, true},
	"This is permanent, give up.":             {false, true, true},
	"List the folder and name a file.":        {false, false, false},
	"Correct the path, then call it again.":   {false, false, false},
	"Do not try again before the window ends": {false, true, false},
}

// TestW14SuggestionsNeverContradictRetry checks that the suggestion of an error agrees with its retry advice, whatever the options
// and their order.
func TestW14SuggestionsNeverContradictRetry(t *testing.T) {
	t.Run("the words", func(t *testing.T) {
		for text, want := range words {
			for i, r := range advice {
				if bad := candor.CheckSuggestion(r, text) != nil; bad != want[i] {
					t.Errorf("%q beside %v: contradiction %v, want %v", text, r, bad, want[i])
				}
			}
		}
		if candor.CheckSuggestion(candor.NoRetry(), "") != nil {
			t.Error("no words contradict nothing")
		}
	})
	t.Run("the catalogue", func(t *testing.T) {
		for c := range candor.Codes() {
			if err := candor.CheckSuggestion(c.Retry(), c.Info().Action); err != nil {
				t.Errorf("%v: %v", c, err)
			}
			if e := candor.New(c, ""); e.Suggestion() != c.Info().Action || e.Validate() != nil {
				t.Errorf("%v: suggestion %q, %v", c, e.Suggestion(), e.Validate())
			}
			for _, r := range advice {
				agrees(t, candor.New(c, "", candor.WithRetry(r)))
				agrees(t, candor.New(c, "").With(candor.WithRetry(r)))
				if err := candor.New(c, "").With(candor.WithRetry(r)).Validate(); err != nil {
					t.Errorf("%v with %v: nobody suggested anything, yet %v", c, r, err)
				}
			}
		}
	})
	t.Run("the constructors", func(t *testing.T) {
		for text := range words {
			for c := range candor.Codes() {
				s := candor.WithSuggestion(text)
				agrees(t, candor.NotRetryable(c, "", s))
				agrees(t, candor.RetryableImmediately(c, "", s))
				agrees(t, candor.RetryableAfter(c, time.Second, "", s))
				agrees(t, candor.New(c, "", candor.WithTool("t"), s))
			}
			agrees(t, candor.From(errEOF, candor.WithSuggestion(text), candor.Otherwise(candor.CodeTimeout)))
		}
	})
}

func agrees(t *testing.T, e *candor.Error) {
	t.Helper()
	if err := candor.CheckSuggestion(e.Retry(), e.Suggestion()); err != nil {
		t.Errorf("%v: %v", e.Code(), err)
	}
}

// A tool reports a failure with a registered code and the details that the caller needs. Other fields come from the
// catalogue, and secrets are redacted.
func Example_building() {
	cause := errors.New("login to db failed: password=correct-horse-battery")

	err := candor.New(kaiza.FileNotFound, "There is no notes.txt.", candor.WithTool("read_file"), candor.WithDetails(map[string]any{"path": "notes.txt"}), candor.WithCause(cause))

	fmt.Println(err)
	fmt.Println("class:  ", err.Class())
	fmt.Println("retry:  ", err.Retry())
	fmt.Println("do:     ", err.Suggestion())
	fmt.Println("details:", err.Details())
	fmt.Println("cause:  ", err.Cause().Message)
	fmt.Println("wraps:  ", errors.Is(err, cause))
	// Output:
	// FILE_NOT_FOUND: There is no notes.txt.
	// class:   not_found
	// retry:   not_retryable
	// do:      List the folder and name a file that exists.
	// details: {"path":"notes.txt"}
	// cause:   login to db failed: password=[redacted:password]
	// wraps:   true
}

// Any Go error can be converted. Known errors get a matching code, codes that an error carries are kept, and the text of
// an unknown error never becomes the message.
func ExampleFrom() {
	for _, err := range []error{
		fmt.Errorf("loading the plan: %w", fs.ErrNotExist),
		fmt.Errorf("asking the model: %w", context.DeadlineExceeded),
		errors.New("[PLAN_NOT_APPROVED] the plan waits for approval"),
		errors.New("sprocket 7 broke"),
		candor.New(candor.CodeDiskFull, ""), // an *Error is returned unchanged
	} {
		fmt.Println(candor.From(err))
	}
	fmt.Println(candor.From(nil) == nil)
	// Output:
	// FILE_NOT_FOUND: The file does not exist.
	// TIMEOUT: No answer came in time.
	// PLAN_NOT_APPROVED: the plan waits for approval
	// INTERNAL_ERROR: An unexpected error occurred.
	// DISK_FULL: There is no space left to store the data.
	// true
}

// Bad arguments are listed one by one: the path, the expected and the received type, and a valid example.
func ExampleWithIssues() {
	err := candor.New(kaiza.InvalidInputType, "", candor.WithTool("search"), candor.WithIssues(
		candor.Issue{Path: "/limit", Rule: "type", Expected: map[string]any{"type": "integer"}, Got: "string", Example: 10},
		candor.Issue{Path: "/qery", Rule: "additionalProperties", Hint: "query"},
	))

	for _, issue := range err.Details().Issues() {
		fmt.Printf("%s breaks %s\n", issue.Path, issue.Rule)
	}
	fmt.Println(err.Details().Get("issues"))
	// Output:
	// /limit breaks type
	// /qery breaks additionalProperties
	// [{"path":"/limit","rule":"type","expected":{"type":"integer"},"got":"string","example":10},{"path":"/qery","rule":"additionalProperties","hint":"query"}]
}

// The canonical form has a fixed order of members and is written without allocating.
func ExampleError_AppendJSON() {
	err := candor.NotRetryable(kaiza.PathTraversalBlocked, "", candor.WithTool("read_file"), candor.WithRef("r-7"))

	buf := make([]byte, 0, 1024)
	buf = err.AppendJSON(buf, candor.JSONOptions{})

	fmt.Println(string(buf))
	// Output:
	// {"code":"PATH_TRAVERSAL_BLOCKED","class":"bad_request","message":"The path leaves its folder through \"..\".","retry":{"kind":"not_retryable"},"suggestion":"Name the path without \"..\" segments.","domain":"kaiza","number":3212,"origin":{"by":"tool","inferred":false},"ref":"r-7","tool":"read_file"}
}

// Retry advice has three kinds, and CheckSuggestion reports text that contradicts it.
func ExampleRetryableAfter() {
	err := candor.RetryableAfter(ratelimit.Exceeded, 1500*time.Millisecond, "",
		candor.WithSuggestion("Do not retry."))

	fmt.Println(err.Retry())
	fmt.Println(err.Retry().Retryable(), err.Retry().After())
	fmt.Println(err.Validate())
	fmt.Println(candor.CheckSuggestion(err.Retry(), err.Suggestion()))
	// Output:
	// retryable_after_ms 1500
	// true 1.5s
	// suggestion says "not retry" but retry is retryable_after_ms 1500
	// <nil>
}

// In a log an error is a group of attributes, so that its code can be searched for.
func ExampleError_LogValue() {
	log := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		},
	}))
	err := candor.New(candor.CodeDiskFull, "", candor.WithTool("write_file"), candor.WithRef("r-7"))

	log.Error("tool failed", slog.Any("err", err))
	// Output:
	// level=ERROR msg="tool failed" err.code=DISK_FULL err.class=unavailable err.message="There is no space left to store the data." err.retry="retryable_after_ms 5000" err.domain=candor err.tool=write_file err.ref=r-7
}
