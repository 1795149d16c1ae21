package failures_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/console/failures"
)

func TestFilterSurvivesAnAddress(t *testing.T) {
	f := failures.Filter{
		Server: "files & more", Tool: "Ünïcode=tool", Code: "TIMEOUT", Class: "timeout", Verdict: "masked", Origin: "tool", Outcome: "error",
		Session: "s-1", Ref: "0af3", Text: `100% "sure"`,
		Since: time.Date(2026, 11, 15, 4, 5, 6, 789000, time.UTC), Until: time.Date(2026, 11, 16, 0, 0, 0, 0, time.UTC),
	}
	values, err := url.ParseQuery(f.Values().Encode())
	if err != nil {
		t.Fatal(err)
	}
	if got, err := failures.ParseFilter(values); err != nil || got != f {
		t.Errorf("got %+v, %v\nwant %+v", got, err, f)
	}
	if got := (failures.Filter{}).Values().Encode(); got != "" {
		t.Errorf("the address of the empty filter has %q", got)
	}
}

func TestFilterReadsTimesAndDurations(t *testing.T) {
	now := time.Date(2026, 11, 16, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"24h":                       now.Add(-24 * time.Hour),
		"7d":                        now.Add(-7 * 24 * time.Hour),
		"15m":                       now.Add(-15 * time.Minute),
		"2026-11-15":                time.Date(2026, 11, 15, 0, 0, 0, 0, time.UTC),
		"2026-11-15T10:00:00Z":      time.Date(2026, 11, 15, 10, 0, 0, 0, time.UTC),
		"2026-11-15T10:00:00+02:00": time.Date(2026, 11, 15, 8, 0, 0, 0, time.UTC),
	} {
		f, err := failures.ParseFilterAt(url.Values{"since": {text}}, now)
		if err != nil || !f.Since.Equal(want) {
			t.Errorf("since=%s: %v, %v; want %v", text, f.Since, err, want)
		}
	}
}

func TestFilterNamesTheParameterThatIsWrong(t *testing.T) {
	for name, value := range map[string]string{"since": "yesterday", "until": "-5h", "tool": strings.Repeat("x", 501)} {
		_, err := failures.ParseFilter(url.Values{name: {value}})
		if err == nil || !strings.HasPrefix(err.Error(), name) || !strings.Contains(err.Error(), "use ") {
			t.Errorf("%s=%.20s: %v; want an error that names the parameter and a next step", name, value, err)
		}
	}
}
