package line

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/domain"
)

const pingLine = `{"jsonrpc":"2.0","id":1,"method":"sys/ping"}` + "\n"

func TestRequestsRunInParallel(t *testing.T) {
	c := start(t, nil)
	for i := range 64 { // each needs another one to return
		c.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"t/meet"}`+"\n", i))
	}
	for range 64 {
		if r := c.next(); string(r.Result) != `"met"` {
			t.Fatal(r.line)
		}
	}
}

func TestDeadlineAnswersMethodsThatIgnoreIt(t *testing.T) {
	c := start(t, func(o *Options) { o.Timeout = 10 * time.Millisecond })
	for id := range 3 {
		r := c.ask(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"t/stuck"}`, id))
		if r.Error == nil || r.Error.Code != 1001 || string(r.ID) != fmt.Sprint(id) {
			t.Fatal(r.line)
		}
		if r := c.ask(strings.TrimSpace(pingLine)); string(r.Result) != "{}" {
			t.Fatal(r.line)
		}
	}
	checkCounts(t, c, 3, 0)
	if rest := c.end(); rest != nil {
		t.Errorf("further lines: %q", rest)
	}
}

func TestEndOfContextDrainsAndReturnsWithOpenInput(t *testing.T) {
	s, err := New([]domain.Domain{testDomain()}, Options{Logger: slog.New(slog.DiscardHandler), Drain: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	c := connect(ctx, t, s)
	c.write(`{"jsonrpc":"2.0","id":1,"method":"t/wait"}` + "\n" + pingLine)
	c.next()
	cancel()
	if r := c.next(); string(r.ID) != "1" || r.Error == nil || r.Error.Data.Symbol != "CANCELLED" {
		t.Error(r.line)
	}
	if err := <-c.served; err != nil {
		t.Error(err)
	}
}

// TestClientThatDoesNotReadStopsTheServer writes without reading until the server stops reading, then reads everything.
func TestClientThatDoesNotReadStopsTheServer(t *testing.T) {
	c := start(t, nil)
	line := `{"jsonrpc":"2.0","id":1,"method":"t/echo","params":{"text":"` + strings.Repeat("x", 50_000) + `"}}` + "\n"
	sent := 0
	for ; sent < 10_000; sent++ {
		_ = c.in.SetWriteDeadline(time.Now().Add(500 * time.Millisecond))
		if n, err := io.WriteString(c.in, line); err != nil {
			if !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Fatal(err)
			}
			_ = c.in.SetWriteDeadline(time.Time{})
			go func() { _, _ = io.WriteString(c.in, line[n:]+pingLine); _ = c.in.Close() }()
			break
		}
	}
	if most := DefaultParallel + 20; sent > most {
		t.Errorf("the server took %d lines of a client that does not read, more than %d", sent, most)
	}
	got := 0
	for text := c.line(); text != ""; text = c.line() {
		got++
	}
	if got != sent+2 {
		t.Errorf("%d responses to %d lines", got, sent+2)
	}
}

// blockedWriter accepts the ready line and blocks in the next write.
type blockedWriter struct {
	writes  int
	release chan struct{}
}

func (w *blockedWriter) Write(p []byte) (int, error) {
	if w.writes++; w.writes > 1 {
		<-w.release
	}
	return len(p), nil
}

// TestStuckClientDoesNotKeepServeAfterItsContext ends the context during a call; its response then cannot be written.
func TestStuckClientDoesNotKeepServeAfterItsContext(t *testing.T) {
	running := make(chan struct{})
	wait := domain.Method{Name: "t/wait", Run: func(ctx context.Context, _ json.RawMessage) (any, error) {
		close(running)
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	s, err := New([]domain.Domain{{Name: "kg", Methods: []domain.Method{wait}}}, Options{Logger: slog.New(slog.DiscardHandler), Drain: 10 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	in, client := io.Pipe()
	w := &blockedWriter{release: make(chan struct{})}
	defer close(w.release)
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, in, w) }()
	if _, err := io.WriteString(client, `{"jsonrpc":"2.0","id":1,"method":"t/wait"}`+"\n"); err != nil {
		t.Fatal(err)
	}
	<-running
	cancel()
	select {
	case err := <-served:
		if !errors.Is(err, errStuck) {
			t.Errorf("got %v, want %v", err, errStuck)
		}
	case <-time.After(2 * time.Minute):
		t.Error("Serve does not return")
	}
	_ = client.Close()
}

func TestOverlongLineCostsBoundedMemory(t *testing.T) {
	c := start(t, nil)
	before := heap()
	chunk := strings.Repeat("x", 1<<20)
	for range 64 {
		c.write(chunk)
	}
	during := heap()
	c.write("\n" + pingLine)
	got := []string{sign(c.next()), sign(c.next())} // in either order: the failure is recorded first
	if slices.Sort(got); !slices.Equal(got, []string{"1 {}", "null 1002"}) {
		t.Error(got)
	}
	if during > before+8<<20 {
		t.Errorf("the heap grew from %d to %d bytes", before, during)
	}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
