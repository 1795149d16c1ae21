package workbench

import (
	"context"
	"os"
	"strings"
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

// TestUncheckedArgumentsAreInvalid sends an unknown key that is too large to check. The systems have one code for all
// invalid arguments, and a tool that ran may report TOO_LARGE itself.
func TestUncheckedArgumentsAreInvalid(t *testing.T) {
	t.Parallel()
	ran := 0
	s := soundSystem()
	s.Tools[0].Codes = []candor.Code{candor.CodeTooLarge, candor.CodeInvalidArguments}
	s.Tools[0].Run = func(context.Context, *Call) (Reply, error) {
		ran++
		return Reply{}, candor.New(candor.CodeTooLarge, "")
	}
	b, err := Open(t.Context(), s, soundOptions(t))
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close() //nolint:errcheck // the checks are done
	e := askWith(t, b, map[string]any{"junk": strings.Repeat("a", 8<<20)})
	if ran > 0 || e.Code() != candor.CodeInvalidArguments || e.Details().Issues()[0].Rule != "too_complex" {
		t.Errorf("ran %d times: %v %s", ran, e, e.Details())
	}
	if e := ask(t, b); e.Code() != candor.CodeTooLarge {
		t.Errorf("%v", e)
	}
}
