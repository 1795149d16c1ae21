//go:build linux

package stdio

import (
	"errors"
	"os"
	"runtime"
	"syscall"
	"testing"
	"time"

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
	end := time.Now().Add(gatewaytest.TooLong)
	for descriptors(t) > files || runtime.NumGoroutine() > goroutines {
		if time.Now().After(end) {
			stacks := make([]byte, 1<<16)
			t.Fatalf("%d files, before %d; %d goroutines, before %d\n%s", descriptors(t), files, runtime.NumGoroutine(), goroutines,
				stacks[:runtime.Stack(stacks, true)])
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func descriptors(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

func TestPipesThatCannotAllBeMadeAreClosed(t *testing.T) {
	before := descriptors(t)
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	scarce := limit
	scarce.Cur = uint64(before) + 6
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &scarce); err != nil {
		t.Fatal(err)
	}
	child := badChild()
	_, err := child.start()
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	if after := descriptors(t); !errors.Is(err, syscall.EMFILE) || after > before {
		t.Errorf("%v; %d files, before %d", err, after, before)
	}
}
