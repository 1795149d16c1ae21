package boundary

import (
	"context"
	"log/slog"
	"testing"

	"github.com/candor-mcp/candor"
)

// panickingObserver is a ledger, meter, tracer and log handler that panics whenever it is called.
type panickingObserver struct{ calls chan string }

func (p panickingObserver) note(what string) {
	select {
	case p.calls <- what:
	default:
	}
	panic("observer: " + what)
}

func (p panickingObserver) Count(*candor.Error, string)        { p.note("Count") }
func (p panickingObserver) CountSuppressed()                   { p.note("CountSuppressed") }
func (p panickingObserver) CountUnrecorded(*candor.Error)      { p.note("CountUnrecorded") }
func (p panickingObserver) WithAttrs([]slog.Attr) slog.Handler { return p }
func (p panickingObserver) WithGroup(string) slog.Handler      { return p }

func (p panickingObserver) Enabled(context.Context, slog.Level) bool {
	p.note("Enabled")
	return true
}

func (p panickingObserver) Handle(context.Context, slog.Record) error {
	p.note("Handle")
	return nil
}

func (p panickingObserver) StartCall(context.Context, string, string, map[string]any) (context.Context, func(*candor.Error)) {
	p.note("StartCall")
	return nil, nil
}

// endPanics is a tracer whose end function panics.
type endPanics struct{ panickingObserver }

func (p endPanics) StartCall(ctx context.Context, _, _ string, _ map[string]any) (context.Context, func(*candor.Error)) {
	return ctx, func(*candor.Error) { p.note("end") }
}

// refusingLedger panics when it is called to record.
type refusingLedger struct{ panickingObserver }

func (l refusingLedger) RecordFailure(context.Context, candor.Failure) error {
	l.note("RecordFailure")
	return nil
}

// TestPanickingObserversLoseNoAnswer calls tools while every observer panics. Each call must be answered.
func TestPanickingObserversLoseNoAnswer(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]Options{
		"meter":  {},
		"tracer": {},
		"end":    {},
		"logger": {},
		"ledger": {},
	} {
		p := panickingObserver{calls: make(chan string, 100)}
		want := candor.CodeInternalError
		o.Logger = quiet
		switch name {
		case "meter":
			o.Meter = p
		case "tracer":
			o.Tracer = p
		case "end":
			o.Tracer = endPanics{p}
		case "logger":
			o.Logger = slog.New(p)
			o.Ledger = &fakeLedger{refuse: context.Canceled} // a failure that cannot be recorded is logged
			want = candor.CodeLedgerFailed
		case "ledger":
			o.Ledger = refusingLedger{p}
			want = candor.CodeLedgerFailed
		}
		for _, e := range eras {
			got := converse(t, rowServer(), o).talk(e, false, request7("plain", "7"), request7("fine", "8"))
			told, _ := envelope(t, got.at("7"))
			if told.Code() != want || got.at("8").Result().Raw() == nil {
				t.Errorf("%s, %s: %v, %v", name, e.name, told, got)
			}
		}
		if len(p.calls) == 0 {
			t.Errorf("%s: was never called", name)
		}
	}
}
