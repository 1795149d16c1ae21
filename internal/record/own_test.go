package record_test

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/record"
)

// TestKnownEffectIsSent records an error in which the server itself reports that it could not record, and whether the
// call took effect.
func TestKnownEffectIsSent(t *testing.T) {
	t.Parallel()
	edge := record.Recorder{By: candor.PartyServer, Logger: slog.New(slog.DiscardHandler), Now: time.Now, Ref: func() string { return "r" },
		Ledger: &fakeSinks{refuse: errors.New("the disk is full")}}
	own := candor.New(candor.CodeLedgerFailed, "The action was done.", candor.WithOrigin(candor.PartyServer, false), candor.WithRef("r-1"))
	if sent := edge.Record(t.Context(), &candor.Failure{Error: own}); sent == nil || sent.Message() != "The action was done." {
		t.Errorf("sent %v", sent)
	}
	other := candor.New(candor.CodeLedgerFailed, "The upstream says so.", candor.WithOrigin(candor.PartyTool, false),
		candor.WithSession("s-1", "WINDSURF", "/w"), candor.WithRef("r-2"))
	sent := edge.Record(t.Context(), &candor.Failure{Error: other})
	if sent == nil || sent.Message() == "The upstream says so." || sent.CallInfo().SessionID != "s-1" || sent.Ref() != "r-2" {
		t.Errorf("sent %v", sent)
	}
}
