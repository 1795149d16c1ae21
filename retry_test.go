package candor_test

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
)

// TestW3RetryIsAClosedSum checks that there are three kinds, that a delay exists exactly if the kind has one, and that nothing
// else can be built or read.
func TestW3RetryIsAClosedSum(t *testing.T) {
	ms := func(n int64) *int64 { return &n }
	week := candor.MaxRetryAfter.Milliseconds()
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
			{"retryable_after_ms", ms(week + 1), candor.RetryIn(candor.MaxRetryAfter), `{"kind":"retryable_after_ms","afterMs":604800000}`},
			{"retryable_after_ms", ms(math.MaxInt64), candor.RetryIn(candor.MaxRetryAfter), `{"kind":"retryable_after_ms","afterMs":604800000}`},
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
