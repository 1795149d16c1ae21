package workspace

import (
	"bufio"
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
)

func TestOnlyOneChangesTheWorkspaceAtATime(t *testing.T) {
	b := newBench(t, Options{})
	lock, err := Lock(context.Background(), b.state, 0)
	b.must(err)
	_, err = Lock(context.Background(), b.state, 0)
	b.refuses(err, candor.CodeLedgerLocked)
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = Lock(gone, b.state, time.Hour)
	b.refuses(err, candor.CodeCancelled)
	time.AfterFunc(10*time.Millisecond, func() { _ = lock.Close() })
	second, err := Lock(context.Background(), b.state, time.Minute)
	b.must(err)
	b.must(second.Close())
}

func TestTheLockOfADeadProcessIsFree(t *testing.T) {
	b := newBench(t, Options{})
	cmd := b.process("lock", 0)
	out, err := cmd.StdoutPipe()
	b.must(err)
	b.must(cmd.Start())
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "held\n" {
		t.Fatalf("%q, %v", line, err)
	}
	_, err = Lock(context.Background(), b.state, 0)
	b.refuses(err, candor.CodeLedgerLocked)
	b.must(cmd.Process.Kill())
	_ = cmd.Wait()
	lock, err := Lock(context.Background(), b.state, time.Minute)
	b.must(err)
	b.must(lock.Close())
}

// lockRole takes the lock and is killed while it holds it.
func lockRole(top string, _ int) int {
	_, state := there(top, 0)
	if _, err := Lock(context.Background(), state, time.Minute); err != nil {
		panic(err)
	}
	fmt.Println("held")
	time.Sleep(time.Minute)
	return 0
}
