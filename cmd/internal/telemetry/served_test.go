package telemetry

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/candor-mcp/candor"
)

// fullLedger is a ledger that cannot write.
type fullLedger struct{}

func (fullLedger) RecordFailure(context.Context, candor.Failure) error {
	return errors.New("no space left")
}

// TestServedObservesEachRecordedFailureOnce records failures in, beside and after a call.
func TestServedObservesEachRecordedFailureOnce(t *testing.T) {
	failure := func(ref string) candor.Failure {
		return candor.Failure{Error: candor.New(candor.CodeNotFound, "", candor.WithRef(ref)), Verdict: "tool", Method: "tools/call", Sent: []byte("{}")}
	}
	for name, row := range map[string]struct {
		next candor.Ledger
		want int
	}{"recorded": {nil, 1}, "not recorded": {fullLedger{}, 0}} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			s := NewServed("it", &Observer{JSON: slog.New(slog.NewJSONHandler(&out, nil))})
			trail := s.Ledger(row.next)
			ctx, end := s.StartCall(t.Context(), "tools/call", "read", nil)
			refs := []string{"first", "second", "late", "alone"}
			for i, in := range []context.Context{ctx, ctx, ctx, t.Context()} {
				if refs[i] == "late" {
					end(failure("first").Error)
					end(failure("first").Error)
				}
				if err := trail.RecordFailure(in, failure(refs[i])); (err != nil) != (row.next != nil) {
					t.Errorf("%s: %v", refs[i], err)
				}
			}
			for _, ref := range refs {
				if got := strings.Count(out.String(), `"ref":"`+ref+`"`); got != row.want {
					t.Errorf("%d records for %s, want %d: %s", got, ref, row.want, &out)
				}
			}
		})
	}
}
