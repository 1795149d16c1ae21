package httpgate_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/gateway"
	httpgate "github.com/candor-mcp/candor/cmd/internal/gateway/http"
	"github.com/candor-mcp/candor/cmd/internal/testing/gatewaytest"
	"github.com/candor-mcp/candor/cmd/internal/testing/httpgatetest"
)

// refusingBooks is a ledger that cannot record, with a meter.
type refusingBooks struct {
	gatewaytest.Books
	with       error
	unrecorded atomic.Int64
}

func (b *refusingBooks) RecordFailure(context.Context, candor.Failure) error { return b.with }
func (b *refusingBooks) CountUnrecorded(*candor.Error)                       { b.unrecorded.Add(1) }

// The upstream has executed the call when its failure cannot be recorded. An error that denies any effect would make a model
// repeat the call.
func TestAFailureThatCannotBeRecordedDoesNotClaimThatNothingWasDone(t *testing.T) {
	back := httptest.NewServer(httpgatetest.Says(200, "application/json",
		`{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"File not found"}],"isError":true}}`))
	t.Cleanup(back.Close)
	target, err := url.Parse(back.URL)
	if err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		with error
		code string
	}{
		"any error":         {errors.New("the disk is gone"), "AUDIT_LOG_FAILED"},
		"the ledger's own":  {candor.New(candor.CodeLedgerFailed, ""), "AUDIT_LOG_FAILED"},
		"the ledger's lock": {candor.New(candor.CodeLedgerLocked, ""), "AUDIT_LOCK_FAILED"},
	} {
		t.Run(name, func(t *testing.T) {
			b := &refusingBooks{with: row.with}
			front := httptest.NewServer(httpgate.New(gateway.New(gateway.Options{Ledger: b, Meter: b}), target, httpgate.Options{}))
			defer front.Close()
			m := httpgatetest.Send(t, "POST", front.URL, httpgatetest.ToolCall).Terminal(t, "7")
			envelope := m.Result().Path("_meta", "dev.candor/error")
			for _, told := range []struct {
				want string
				path []any
			}{
				{row.code, []any{"code"}},
				{"The call failed, and that could not be written to the trail.", []any{"message"}},
				{"not_retryable", []any{"retry", "kind"}},
				{"kaiza/FILE_NOT_FOUND", []any{"details", "code"}},
				{"gateway", []any{"origin", "by"}},
			} {
				if got, _ := envelope.Path(told.path...).Str(); got != told.want {
					t.Errorf("%v is %q, want %q", told.path, got, told.want)
				}
			}
			if text := string(m.Bytes()); strings.Contains(text, "not done") || strings.Contains(text, "same call again") {
				t.Errorf("the model reads %s", text)
			}
			if _, counted, _ := b.Totals(); b.unrecorded.Load() != 1 || counted != 0 {
				t.Errorf("%d unrecorded, %d counted", b.unrecorded.Load(), counted)
			}
		})
	}
}
