package gateway

import (
	"net/http"
	"testing"
	"time"
)

// A client that ends its session with a call open has called it off.
func TestDeletedSessionCancelsItsOpenCalls(t *testing.T) {
	for name, c := range map[string]struct {
		child  Child
		shared bool
	}{
		"at work":         {brokenServer(), false},
		"at work, shared": {brokenServer(), true},
		"held":            {listServer(listsNothing), false}, // because the list of tools is awaited
		"held, shared":    {listServer(listsNothing), true},
	} {
		s := spanned(t, Options{}, c.child, BridgeOptions{Shared: c.shared})
		c := s.greet()
		done := make(chan struct{})
		go func() {
			defer close(done)
			c.call(1, "hang", `{}`)
		}()
		for s.b.up.Open() == 0 {
			time.Sleep(time.Millisecond)
		}
		c.send(http.MethodDelete, "", sessionHeader, c.id)
		<-done
		if err := s.b.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if s.of("CANCELLED") != 1 || s.of("GATEWAY_DRAINING") != 0 {
			t.Errorf("%s: recorded %v", name, s.codes)
		}
	}
}
