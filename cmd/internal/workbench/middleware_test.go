package workbench

import (
	"context"
	"os"
	"testing"

	"github.com/candor-mcp/candor"
)

// TestAnIdempotentToolMayBeRepeatedWhenItsEndIsNotRecorded removes the trail while a tool runs. The error is retryable
// only if the tool is idempotent.
func TestAnIdempotentToolMayBeRepeatedWhenItsEndIsNotRecorded(t *testing.T) {
	t.Parallel()
	for _, idempotent := range []bool{false, true} {
		o := soundOptions(t)
		s := soundSystem()
		s.Tools[0].ReadOnly, s.Tools[0].Idempotent = false, idempotent
		s.Tools[0].Run = func(context.Context, *Call) (Reply, error) {
			return Reply{Text: []string{"done"}}, os.Rename(o.Ledger, o.Ledger+"-gone")
		}
		b, err := Open(t.Context(), s, o)
		if err != nil {
			t.Fatal(err)
		}
		e := ask(t, b)
		if e == nil || e.Code() != candor.CodeLedgerFailed || e.Details().Get("effect").String() != `"done"` {
			t.Fatalf("idempotent %t: %v", idempotent, e)
		}
		if e.Retry().Retryable() != idempotent || e.Suggestion() == "" {
			t.Errorf("idempotent %t: retry %s, %q", idempotent, e.Retry(), e.Suggestion())
		}
		_ = b.Close() // fails: its trail was removed
	}
}
