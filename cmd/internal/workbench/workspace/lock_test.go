package workspace

import (
	"context"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/kaiza"
)

func TestOnlyOneChangesTheWorkspaceAtATime(t *testing.T) {
	b := newBench(t, Options{})
	lock, err := Lock(context.Background(), b.state, 0)
	b.must(err)
	_, err = Lock(context.Background(), b.state, 0)
	b.refuses(err, kaiza.AuditLockFailed)
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = Lock(gone, b.state, time.Hour)
	b.refuses(err, candor.CodeCancelled)
	time.AfterFunc(10*time.Millisecond, func() { _ = lock.Close() })
	second, err := Lock(context.Background(), b.state, time.Minute)
	b.must(err)
	b.must(second.Close())
}
