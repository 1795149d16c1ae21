package candor_test

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/redact"
)

// TestW6BoundsAreInBytesAndCutOnRuneBorders checks that every text is within its limit in bytes and valid UTF-8, and that a text
// that was cut is a prefix of the original followed by the mark, inside the limit.
func TestW6BoundsAreInBytesAndCutOnRuneBorders(t *testing.T) {
	bounds := map[string]struct {
		limit int
		read  func(text string) string
	}{
		"message":    {candor.MaxMessage, func(s string) string { return candor.New(candor.CodeTimeout, s).Message() }},
		"suggestion": {candor.MaxSuggestion, func(s string) string { return build(candor.WithSuggestion(s)).Suggestion() }},
		"cause":      {candor.MaxCause, func(s string) string { return build(candor.WithCause(errors.New(s))).Cause().Message }},
		"cause text": {candor.MaxCause, func(s string) string { return build(candor.WithCauseText(candor.Cause{Message: s})).Cause().Message }},
		"cause code": {candor.MaxCallInfo, func(s string) string { return candor.NewCause("", s, "").Code }},
		"cause name": {candor.MaxCallInfo, func(s string) string { return candor.NewCause("", "", s).Name }},
		"detail":     {candor.MaxText, func(s string) string { return text(t, candor.DetailsOf(s)) }},
		"member":     {candor.MaxKey, func(s string) string { return name(t, candor.DetailsOf(map[string]int{s: 1})) }},
		"tool":       {candor.MaxCallInfo, func(s string) string { return build(candor.WithTool(s)).CallInfo().Tool }},
		"ref":        {candor.MaxCallInfo, func(s string) string { return build(candor.WithRef(s)).Ref() }},
		"session":    {candor.MaxCallInfo, func(s string) string { return build(candor.WithSession(s, "", "")).CallInfo().SessionID }},
		"role":       {candor.MaxCallInfo, func(s string) string { return build(candor.WithSession("", s, "")).CallInfo().Role }},
		"root":       {candor.MaxText, func(s string) string { return build(candor.WithSession("", "", s)).CallInfo().WorkspaceRoot }},
		"invariant":  {candor.MaxCallInfo, func(s string) string { return build(candor.WithInvariant(s)).CallInfo().InvariantID }},
		"phase":      {candor.MaxCallInfo, func(s string) string { return build(candor.WithPhase(s)).CallInfo().PhaseID }},
		"plan":       {candor.MaxCallInfo, func(s string) string { return build(candor.WithPlan(s)).CallInfo().PlanHash }},
		"stack":      {candor.MaxStack, func(s string) string { return build(candor.WithStack(s)).Stack() }},
	}
	for where, bound := range bounds {
		for _, unit := range []string{"a", "é", "世", "😀", "a世😀é", "\xff"} {
			clean := strings.Repeat(unit, 9000)
			if unit == "\xff" {
				clean = strings.Repeat("\ufffd", 9000)
			}
			for n := bound.limit - 9; n <= bound.limit+9; n++ {
				in := clean[:n]
				for !utf8.ValidString(in) {
					in = in[:len(in)-1]
				}
				got := bound.read(in)
				switch {
				case len(in) <= bound.limit && got != in:
					t.Fatalf("%s: %d bytes fit into %d and were changed to %d: %q", where, len(in), bound.limit, len(got), tail(got))
				case len(in) > bound.limit:
					checkCut(t, where, in, got, bound.limit)
				}
			}
			checkCut(t, where, clean, bound.read(strings.Repeat(unit, 9000)), bound.limit)
		}
	}
}

func build(options ...candor.Option) *candor.Error {
	return candor.New(candor.CodeTimeout, "", options...)
}

func text(t *testing.T, d candor.Details) string {
	t.Helper()
	var s string
	if err := d.Decode(&s); err != nil {
		t.Fatal(err)
	}
	return s
}

func name(t *testing.T, d candor.Details) string {
	t.Helper()
	var m map[string]int
	if err := d.Decode(&m); err != nil || len(m) != 1 {
		t.Fatal(d, err)
	}
	for k := range m {
		return k
	}
	return ""
}

func tail(s string) string { return s[max(0, len(s)-20):] }

func checkCut(t *testing.T, where, in, got string, limit int) {
	t.Helper()
	rest, marked := strings.CutSuffix(got, candor.CutMark)
	switch {
	case len(got) > limit || len(got) < limit-utf8.UTFMax-len(candor.CutMark):
		t.Fatalf("%s: cut to %d bytes, the bound is %d", where, len(got), limit)
	case !utf8.ValidString(got):
		t.Fatalf("%s: cut inside a rune: %q", where, tail(got))
	case !marked || !strings.HasPrefix(in, rest):
		t.Fatalf("%s: no mark, or not a prefix: %q", where, tail(got))
	}
}

// worst are texts that grow when they are encoded.
var worst = []string{"\"", "\\", "\n", "é\"", "\xff", "\u2028", "\x00", "a", "😀\\"}

// TestEnvelopesStayBelow32KiB fills every field with texts that grow when they are encoded.
func TestEnvelopesStayBelow32KiB(t *testing.T) {
	for _, unit := range worst {
		s := strings.Repeat(unit, 20000)
		wide := map[string]any{}
		for i := range 200 {
			wide[s[:i]] = []any{s, map[string]any{s: s}}
		}
		e := candor.New(candor.CodeTimeout, s, candor.WithSuggestion(s), candor.WithDetails(wide), candor.WithIssues(candor.Issue{Path: s, Message: s, Expected: s}),
			candor.WithCause(&kaizaError{s, s}), candor.WithCauseText(candor.NewCause(s, s, s)), candor.WithRef(s), candor.WithTime(past), candor.WithStack(s),
			candor.WithCallInfo(candor.CallInfo{Tool: s, Role: s, SessionID: s, WorkspaceRoot: s, InvariantID: s, PhaseID: s, PlanHash: s}))
		raw := e.AppendJSON(nil, candor.JSONOptions{Stack: true, PlainRoot: true})
		if !json.Valid(raw) || !utf8.Valid(raw) {
			t.Errorf("%q: not JSON", unit)
		}
		if len(raw) >= 32<<10 {
			t.Errorf("%q: %d bytes", unit, len(raw))
		}
	}
}

// checkPublic checks the guarantees of publicText for one text.
func checkPublic(t testing.TB, in string, limit int) {
	t.Helper()
	out := candor.PublicText(in, limit)
	switch {
	case len(out) > limit:
		t.Fatalf("limit %d: %d bytes from %q", limit, len(out), in)
	case !utf8.ValidString(out):
		t.Fatalf("limit %d: invalid UTF-8 from %q: %q", limit, in, out)
	case redact.Text(out) != out:
		t.Fatalf("limit %d: redaction is not done:\n  in %q\n out %q\nthen %q", limit, in, out, redact.Text(out))
	case candor.PublicText(out, limit) != out:
		t.Fatalf("limit %d: not a fixed point:\n  in %q\n out %q\nthen %q", limit, in, out, candor.PublicText(out, limit))
	}
	if whole := redact.Text(in); len(whole) <= limit && out != whole {
		t.Fatalf("limit %d: %q fits and was changed to %q", limit, whole, out)
	} else if len(whole) > limit && limit >= len(candor.CutMark) && !strings.HasSuffix(out, candor.CutMark) {
		t.Fatalf("limit %d: cut without a mark: %q", limit, out)
	}
}

// TestCuttingAndRedactionAgree checks that a result is both redacted and within its limit, although redaction lengthens texts and
// cutting splits redaction marks.
func TestCuttingAndRedactionAgree(t *testing.T) {
	for _, secret := range []string{
		"password=hunter2hunter2 rest", "token " + fakeToken + " rest", "open /home/ann/src/app/main.go rest", "https://ann:hunter2@example.com/x rest",
		`{"api_key":"hunter2hunter2"}`, "Authorization: Bearer abcdefghijklmnopqrstuvwxyz0123", "C:\\Users\\ann\\secrets\\x.txt rest",
		"--password hunter2hunter2 rest", "[redacted:token] rest", "…/…/… rest", "password=[redacted:password]&token=[redacted:token]",
		strings.Repeat("token=abcdefgh12345678 ", 9), strings.Repeat("/home/a/b.c ", 20), strings.Repeat("~/a/b ", 20),
	} {
		for pad := range 60 {
			if testing.Short() && pad%7 != 0 {
				continue
			}
			for _, limit := range []int{0, 1, 2, 3, 4, 5, 8, 13, 20, 30, 40, 60} {
				checkPublic(t, strings.Repeat("x", pad)+" "+secret, limit)
				checkPublic(t, strings.Repeat("x ", pad/2)+secret, limit)
			}
		}
	}
}

func TestRandomTextsArePublic(t *testing.T) {
	m := maker{r: rand.New(rand.NewPCG(3, 4))}
	for range rounds(8000) {
		checkPublic(t, m.text(), []int{3, 8, 16, 40, 64, candor.MaxKey, candor.MaxSuggestion, candor.MaxMessage}[m.r.IntN(8)])
	}
}

// TestHugeTextsAreCutBeforeTheyAreRead checks that the work on a text is limited, and that a secret at the limit is still found.
func TestHugeTextsAreCutBeforeTheyAreRead(t *testing.T) {
	for _, unit := range []string{"password=hunter2hunter2 ", "é", "/home/ann/x.txt "} {
		checkPublic(t, strings.Repeat(unit, 1<<22/len(unit)), candor.MaxMessage)
	}
	key := "-----BEGIN PRIVATE KEY-----\n" + strings.Repeat("MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n", 1<<15) + "-----END PRIVATE KEY-----"
	if got := candor.New(candor.CodeTimeout, key).Message(); strings.Contains(got, "MIIE") {
		t.Errorf("%.80q", got)
	}
}

// FuzzErrorText puts arbitrary text in every field of an error.
func FuzzErrorText(f *testing.F) {
	for _, p := range pieces {
		f.Add(p, strings.Repeat("x", 120)+p)
	}
	f.Add("password=hunter2hunter2", strings.Repeat("token=abcdefgh12345678 ", 60))
	f.Fuzz(func(t *testing.T, message, other string) {
		checkPublic(t, message, candor.MaxMessage)
		checkPublic(t, other, candor.MaxKey)
		e := candor.New(candor.CodeTimeout, message, candor.WithSuggestion(other), candor.WithCause(errors.New(other)), candor.WithStack(other),
			candor.WithCallInfo(candor.CallInfo{Tool: other, Role: message, WorkspaceRoot: other}), candor.WithRef(message), candor.WithDetails(map[string]any{message: other}))
		raw := e.AppendJSON(nil, candor.JSONOptions{Stack: true, PlainRoot: true})
		if !json.Valid(raw) || !utf8.Valid(raw) || len(raw) >= 32<<10 {
			t.Fatalf("%d bytes: %q", len(raw), raw)
		}
		if candor.CheckSuggestion(e.Retry(), e.Suggestion()) != nil {
			t.Fatalf("%q contradicts %v", e.Suggestion(), e.Retry())
		}
		checkDetails(t, "details", e.Details())
		if e.Validate() == nil != (candor.CheckSuggestion(e.Retry(), candor.PublicText(other, candor.MaxSuggestion)) == nil) {
			t.Fatalf("Validate does not agree with CheckSuggestion about %q", other)
		}
	})
}
