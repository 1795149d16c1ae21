package fleet_test

import (
	"errors"
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
)

func TestReasonKeepsTheHintOrElseTheCause(t *testing.T) {
	cause := errors.New("stream not found (10059)")
	for message, want := range map[string]string{
		"the stream does not exist (hint: candor fleet setup)": "the stream does not exist (hint: candor fleet setup)",
		"reading failed": "reading failed: stream not found (10059)",
		"reading failed: stream not found (10059)": "reading failed: stream not found (10059)",
	} {
		if got := fleet.Reason(candor.New(candor.CodeUnavailable, message, candor.WithCause(cause))); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := fleet.Reason(cause); got != cause.Error() {
		t.Errorf("got %q for an error without a code", got)
	}
}
