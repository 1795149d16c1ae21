package contract_test

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/internal/testing/corpus"
)

func load(t *testing.T, name string) []corpus.Record {
	t.Helper()
	records, err := corpus.Load(name)
	if errors.Is(err, corpus.ErrAbsent) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return records
}

// exchangeOf reads a record as candor decode reads its lines.
func exchangeOf(t *testing.T, r *corpus.Record) *contract.Exchange {
	t.Helper()
	line := fmt.Appendf(nil, `{"request":%s,"response":%s}`, orNull(r.Request), orNull(r.Response))
	x, err := contract.ParseExchange(line)
	if err != nil {
		t.Fatalf("%s %s %s: %v", r.Server, r.Tool, r.Case, err)
	}
	x.Ref = "test"
	return x
}

func orNull(raw []byte) []byte {
	if len(raw) == 0 {
		return []byte("null")
	}
	return raw
}

// figure is one row of the table: the share of matching records, and the required share in percent.
type figure struct {
	name            string
	hits, all       int
	atLeast, atMost float64
	bounded         bool // atMost applies, and the examples show hits instead of misses
	examples        []string
}

func (f *figure) add(r *corpus.Record, hit bool) {
	f.all++
	if hit {
		f.hits++
	}
	if hit == f.bounded {
		f.examples = append(f.examples, fmt.Sprintf("%s %s %s\n    %.200s\n    %.400s", r.Server, r.Tool, r.Case, r.Request, r.Response))
	}
}

func (f *figure) check(t *testing.T) string {
	t.Helper()
	percent := 100 * float64(f.hits) / float64(max(f.all, 1))
	want := fmt.Sprintf(">= %.0f %%", f.atLeast)
	if f.bounded {
		want = fmt.Sprintf("<= %.0f %%", f.atMost)
	}
	if f.all == 0 || percent < f.atLeast || f.bounded && percent > f.atMost {
		t.Errorf("%s: %.1f %%, want %s; for example\n  %s", f.name, percent, want, strings.Join(f.examples[:min(len(f.examples), 5)], "\n  "))
	}
	return fmt.Sprintf("%-62s %5d of %5d  %5.1f %%  %s\n", f.name, f.hits, f.all, percent, want)
}

var (
	// The recorded 429s were sent with Retry-After: 37. In one record the number is only part of a library's name. A few answers give
	// the time instead.
	saysDelay     = regexp.MustCompile(`(?i)(retry|wait|again|reset)[^0-9]{0,24}37\b|resets? at:? *\d{4}-`)
	saysRateLimit = regexp.MustCompile(`(?i)\b429\b|too many requests|rate.?limit`)
	secretMark    = []byte("zz9secret")
)

const sentDelayMs = 37_000

// TestRecordedServers measures the rules on the recordings and fails below the required figures.
func TestRecordedServers(t *testing.T) {
	flagged := figure{name: "flagged failures read with code, class and retry", atLeast: 100}
	masked := figure{name: "masked failures found", atLeast: 95}
	okSure := figure{name: "true successes called certain failures", bounded: true}
	okGuess := figure{name: "ok_* suspected", atMost: 5, bounded: true}
	plain := figure{name: "plain successes suspected", atMost: 1, bounded: true}
	tricky := figure{name: "tricky successes suspected", atMost: 12, bounded: true}
	limits := figure{name: "429s that say so read as rate limits", atLeast: 100}
	delays := figure{name: "429s whose delay is in the bytes keep it", atLeast: 100}
	fields := figure{name: "validation failures that name the field have it in details", atLeast: 95}
	secrets := figure{name: "answers with a planted secret in the output", bounded: true}
	told := figure{name: "flagged failures with more than a last resort (for information)"}

	records := append(load(t, corpus.Failures), load(t, corpus.Successes)...)
	for i := range records {
		r := &records[i]
		if _, wrong := r.Mislabelled(); wrong {
			continue
		}
		got := contract.Read(exchangeOf(t, r))
		secrets.add(r, leaks(got))
		failed := got.Verdict.Failure()
		switch {
		case r.Flagged():
			flagged.add(r, failed && got.Certainty == contract.Certain && complete(got.Error))
			told.add(r, got.Error != nil && !lastResort(got.Error.Code()))
		case r.Masked():
			masked.add(r, failed)
		case r.Success():
			okSure.add(r, failed && got.Certainty == contract.Certain)
			suspicion := &okGuess
			if r.Pattern == "ok_true" {
				suspicion = &plain
			}
			if r.Tricky {
				suspicion = &tricky
			}
			suspicion.add(r, failed)
		}
		if !r.Flagged() && !r.Masked() {
			continue
		}
		if r.Case == "up_429" && saysRateLimit.Match(r.Response) {
			limits.add(r, got.Error != nil && got.Error.Class() == candor.ClassRateLimited)
		}
		if r.Case == "up_429" && saysDelay.Match(r.Response) {
			delays.add(r, got.Error != nil && (got.Error.Retry().AfterMs() == sentDelayMs || keepsMoment(got.Error)))
		}
		if r.Group == "validation" && r.NamesField && r.Field != "" {
			fields.add(r, got.Error != nil && names(got.Error, r))
		}
	}
	table := ""
	for _, f := range []*figure{&flagged, &told, &masked, &okSure, &okGuess, &plain, &tricky, &limits, &delays, &fields, &secrets} {
		table += f.check(t)
	}
	t.Log("\n" + table)
}

func complete(e *candor.Error) bool {
	return e != nil && e.Code().Valid() && e.Class().Valid() && e.Retry().Kind() != "" && e.Message() != ""
}

// keepsMoment reports whether the retry time is in the details. It cannot become a delay without the time of the answer.
func keepsMoment(e *candor.Error) bool {
	return !e.Details().Get("said").Get("retryAt").IsZero()
}

func lastResort(c candor.Code) bool {
	return c == candor.CodeUnknownToolFailure || c == candor.CodeInternalError || c == candor.CodeMaskedFailure
}

func leaks(got contract.Reading) bool {
	var out []byte
	if got.Error != nil {
		out = got.Error.AppendJSON(out, candor.JSONOptions{Stack: true, PlainRoot: true})
		out = fmt.Appendf(out, "%+v", got.Error)
	}
	out = fmt.Append(out, got.Violations)
	return bytes.Contains(out, secretMark)
}

// names reports whether the path of an issue contains every failing field that the answer names. A record may have several.
func names(e *candor.Error, r *corpus.Record) bool {
	issues := e.Details().Issues()
	for field := range strings.SplitSeq(r.Field, ",") {
		word := regexp.MustCompile(`\b` + regexp.QuoteMeta(field) + `\b`)
		if word.Match(r.Response) && !hasIssue(issues, field) {
			return false
		}
	}
	return true
}

func hasIssue(issues []candor.Issue, field string) bool {
	for _, issue := range issues {
		if issue.Path[strings.LastIndexByte(issue.Path, '/')+1:] == field {
			return true
		}
	}
	return false
}
