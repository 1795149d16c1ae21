package dialect_test

import (
	"testing"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/dialect"
)

func TestToolFailureHasItsMembersForEveryCode(t *testing.T) {
	d := lookup(t, "sep3313")
	for c := range candor.Codes() {
		v := parse(t, d.Write(nil, candor.New(c, "m", candor.WithRef("r-1")), dialect.Options{})).Path("_meta", dialect.ToolFailureKey)
		class, _ := v.Path("class").Str()
		retryable, ok := v.Path("retryable").Bool()
		if class == "" || !ok || retryable != c.Retry().Retryable() || !v.Path("correlationId").Is("r-1") || !v.Path("code").Is(c.Symbol()) {
			t.Errorf("%s: %s", c, v.Raw())
		}
	}
}

func TestNotBeforeNeedsATimeToCountFrom(t *testing.T) {
	d := lookup(t, "sep3313")
	e := candor.RetryableAfter(candor.CodeRateLimited, 2*time.Second, "m")
	at := time.Date(2026, 11, 15, 1, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		e    *candor.Error
		now  time.Time
		want string
	}{
		{e, time.Time{}, ""},
		{e, at, "2026-11-15T01:00:02.000Z"},
		{e.With(candor.WithTime(at.Add(time.Hour))), at, "2026-11-15T02:00:02.000Z"},
		{e.With(candor.WithRetry(candor.RetryNow())), at, ""},
	} {
		got, _ := parse(t, d.Encode(nil, c.e, dialect.Options{Now: c.now})).Path("retryNotBefore").Str()
		if got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestAnyResultMayCarryToolFailureToo(t *testing.T) {
	e := candor.New(candor.CodeNotFound, "m", candor.WithRef("r"))
	for _, name := range []string{"candor", "system-error", "tool-error", "dual", "dual-unified"} {
		v := parse(t, lookup(t, name).Write(nil, e, dialect.Options{Sep3313: true}))
		if !v.Path("_meta", dialect.ToolFailureKey, "code").Is("NOT_FOUND") {
			t.Errorf("%s: %s", name, v.Raw())
		}
		if v = parse(t, lookup(t, name).Write(nil, e, dialect.Options{})); v.Path("_meta", dialect.ToolFailureKey).Present() {
			t.Errorf("%s writes a proposal that nobody asked for", name)
		}
	}
}
