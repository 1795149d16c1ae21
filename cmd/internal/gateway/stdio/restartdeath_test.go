package stdio

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/testing/gatewaytest"
)

// diesLater returns a server that answers initialize once and ends at the next tools/call. After a restart, it runs the script
// then.
func diesLater(t *testing.T, then string) Child {
	t.Helper()
	script := `if [ -e "$0" ]; then ` + then + `; fi
		: >"$0"
		read -r line; echo '{"jsonrpc":"2.0","id":"hello","result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}'
		read -r line; read -r line; exit 3`
	return Child{
		Command: "sh", Args: []string{"-c", script, filepath.Join(t.TempDir(), "started")}, Env: os.Environ(), Grace: 500 * time.Millisecond,
		Restart: RestartPolicy{Tries: 3, Wait: time.Millisecond},
	}
}

func (s *session) greetAndLoseServer() {
	s.t.Helper()
	s.send(gatewaytest.SpanHello)
	s.answer(`"hello"`)
	s.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	s.call(1, "die", `{}`)
	if answer := s.answer("1"); gatewaytest.CodeOf(answer) != "UPSTREAM_GONE" {
		s.t.Error(answer)
	}
}

// TestServerThatEndsBeforeInitializeIsNoticed checks that all restarts are used up well before initialize would time out.
func TestServerThatEndsBeforeInitializeIsNoticed(t *testing.T) {
	s := wrapped(t, gateway.Options{}, diesLater(t, "exit 4"))
	began := time.Now()
	s.greetAndLoseServer()
	if exit := s.wait(); exit.Code != 4 || time.Since(began) > replayTimeout {
		t.Errorf("%+v after %v", exit, time.Since(began))
	}
}

// TestHangUpEndsAServerThatDoesNotInitialize hangs up while the server is being restarted.
func TestHangUpEndsAServerThatDoesNotInitialize(t *testing.T) {
	s := wrapped(t, gateway.Options{}, diesLater(t, "sleep 100"))
	s.greetAndLoseServer()
	gatewaytest.Eventually(t, "the server is started again", func() bool { return strings.Contains(s.log.String(), "started again") })
	began := time.Now()
	if exit := s.hangUp(); !exit.HungUp || time.Since(began) > replayTimeout/2 {
		t.Errorf("%+v after %v", exit, time.Since(began))
	}
}
