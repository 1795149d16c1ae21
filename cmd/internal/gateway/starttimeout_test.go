package gateway

import (
	"strings"
	"testing"
	"time"
)

const initialize = `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

// A server may take longer to start than any of its calls.
func TestTimeoutOfCallsDoesNotLimitTheStart(t *testing.T) {
	s := wrapped(t, Options{Timeout: 200 * time.Millisecond}, listChild(listsSlow))
	s.send(initialize)
	if got := s.answer(`"hello"`); codeOf(got) != "" {
		t.Errorf("client gets %s", got)
	}
	s.hangUp()
	s.balanced(0)
}

// A server that does not start is given up after a time of its own, and the answer says how to change that.
func TestStartTimeoutLimitsInitialize(t *testing.T) {
	s := wrapped(t, Options{StartTimeout: 300 * time.Millisecond}, listChild(listsDeaf))
	s.send(initialize)
	got := s.answer(`"hello"`)
	if codeOf(got) != "CALL_TIMEOUT" || !strings.Contains(shown(t, got), "initialize within 300ms") || !strings.Contains(got, "--start-timeout") {
		t.Errorf("client gets %s", got)
	}
	s.hangUp()
	s.balanced(1)
}
