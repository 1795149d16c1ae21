//go:build linux

package stdio

import (
	"os"
	"runtime"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/testing/gatewaytest"
)

func TestSessionsLeaveNeitherFilesNorGoroutinesBehind(t *testing.T) {
	session := func() {
		s := wrapped(t, gateway.Options{}, restarting())
		s.greet()
		s.call(1, "fail", `{}`)
		s.call(2, "exit", `{}`)
		s.answer("2")
		s.replyTo(3)
		s.hangUp()
		s.rest()
		s.released()
	}
	session()
	files, goroutines := descriptors(t), runtime.NumGoroutine()
	for range 5 {
		session()
	}
	gatewaytest.Eventually(t, "the files and goroutines of sessions to be freed", func() bool { return descriptors(t) <= files && runtime.NumGoroutine() <= goroutines })
}

func descriptors(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}
