package bridge

import (
	"net/http"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	httpgate "github.com/candor-mcp/candor/cmd/internal/gateway/http"
	"github.com/candor-mcp/candor/cmd/internal/gateway/stdio"
	"github.com/candor-mcp/candor/cmd/internal/testing/gatewaytest"
)

// A client that ends its session cancels its open calls.
func TestDeletedSessionCancelsItsOpenCalls(t *testing.T) {
	for name, c := range map[string]struct {
		child  stdio.Child
		shared bool
	}{
		"at work":         {brokenServer(), false},
		"at work, shared": {brokenServer(), true},
		"held":            {listServer(gatewaytest.ListsNothing), false}, // because the tool list is awaited
		"held, shared":    {listServer(gatewaytest.ListsNothing), true},
	} {
		s := spanned(t, gateway.Options{}, c.child, Options{Shared: c.shared})
		c := s.greet()
		done := make(chan struct{})
		go func() {
			defer close(done)
			c.call(1, "hang", `{}`)
		}()
		for s.b.up.Open() == 0 {
			time.Sleep(time.Millisecond)
		}
		c.send(http.MethodDelete, "", httpgate.SessionHeader, c.id)
		<-done
		if err := s.b.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if s.ByCode()["CANCELLED"] != 1 || s.ByCode()["GATEWAY_DRAINING"] != 0 {
			t.Errorf("%s: recorded %v", name, s.ByCode())
		}
	}
}
