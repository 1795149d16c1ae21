package line

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/domain"
	"github.com/candor-mcp/candor/meter"
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

func TestQuickCallOvertakesSlowOne(t *testing.T) {
	c := start(t, nil)
	c.write(`{"jsonrpc":"2.0","id":1,"method":"t/meet"}` + "\n")
	if r := c.ask(`{"jsonrpc":"2.0","id":2,"method":"sys/ping"}`); string(r.ID) != "2" {
		t.Fatal(r.line)
	}
	c.write(`{"jsonrpc":"2.0","id":3,"method":"t/meet"}` + "\n")
	for range 2 {
		if r := c.next(); string(r.Result) != `"met"` {
			t.Fatal(r.line)
		}
	}
}

func TestResponsesDoNotWaitForSlowCalls(t *testing.T) {
	c := start(t, func(o *Options) { o.Parallel = 2 })
	meet := `{"jsonrpc":"2.0","id":1,"method":"t/meet"}` + "\n"
	for range 3 { // the method is known to be slow after the first round
		c.write(pingLine + meet + pingLine + meet)
		var got []string
		for range 4 {
			got = append(got, string(c.next().Result))
		}
		slices.Sort(got)
		if !slices.Equal(got, []string{`"met"`, `"met"`, "{}", "{}"}) {
			t.Fatal(got)
		}
	}
}

func TestDeadlineAnswersMethodsThatIgnoreIt(t *testing.T) {
	c := start(t, func(o *Options) { o.Timeout = 10 * time.Millisecond })
	for id := range 3 { // first on the reader, then on separate goroutines
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

func TestGoexitDoesNotEndTheReader(t *testing.T) {
	c := start(t, nil)
	for range 20 {
		c.write(`{"jsonrpc":"2.0","id":1,"method":"t/goexit"}` + "\n" + pingLine)
		for range 2 {
			c.next()
		}
	}
	checkCounts(t, c, 20, 0)
}

func TestEndOfInputDrainsRunningCalls(t *testing.T) {
	c := start(t, nil)
	c.write(strings.Repeat(`{"jsonrpc":"2.0","id":1,"method":"t/pause"}`+"\n", 10) + `{"jsonrpc":"2.0","id":2,"method":"sys/ping"}`)
	if rest := c.end(); len(rest) != 11 {
		t.Errorf("%d responses: %q", len(rest), rest)
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

func TestClosedOutputEndsServeWithoutError(t *testing.T) {
	c := start(t, nil)
	c.write(`{"jsonrpc":"2.0","id":1,"method":"t/wait"}` + "\n")
	_ = c.outEnd.Close()
	for range 1000 {
		if _, err := io.WriteString(c.in, pingLine); err != nil {
			break
		}
	}
	select {
	case err := <-c.served:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("Serve does not return")
	}
}

func TestFailedOutputIsAnError(t *testing.T) {
	s, err := New(nil, Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	full := errors.New("no space")
	if err := s.Serve(context.Background(), strings.NewReader(pingLine), failingWriter{full}); !errors.Is(err, full) {
		t.Errorf("%v", err)
	}
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }

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
	if most := 64 + maxPending/len(line)*3 + 10; sent > most {
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

func TestStuckClientDoesNotKeepServeAfterItsContext(t *testing.T) {
	s, err := New([]domain.Domain{testDomain()}, Options{Logger: slog.New(slog.DiscardHandler), Drain: 10 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	c := connect(ctx, t, s)
	go func() {
		for {
			if _, err := io.WriteString(c.in, pingLine); err != nil {
				return
			}
		}
	}()
	time.Sleep(50 * time.Millisecond)
	cancel()
	select {
	case <-c.served:
	case <-time.After(20 * time.Second):
		t.Fatal("Serve does not return")
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

// TestStuckOutputDoesNotKeepServeWithoutCalls ends the context during a call whose response then cannot be written,
// although no call runs.
func TestStuckOutputDoesNotKeepServeWithoutCalls(t *testing.T) {
	s, err := New([]domain.Domain{testDomain()}, Options{Logger: slog.New(slog.DiscardHandler), Drain: 10 * time.Millisecond})
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
	for s.methods["t/wait"].calls.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	cancel()
	select {
	case err := <-served:
		if !errors.Is(err, errStuck) {
			t.Errorf("got %v, want %v", err, errStuck)
		}
	case <-time.After(20 * time.Second):
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

func TestCountersAreExactWith64Clients(t *testing.T) {
	m, err := meter.New(meter.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := New([]domain.Domain{testDomain()}, Options{Logger: slog.New(slog.DiscardHandler), Meter: m, ErrorStats: true})
	if err != nil {
		t.Fatal(err)
	}
	const clients, rounds = 64, 20
	var all sync.WaitGroup
	for range clients {
		c := connect(context.Background(), t, s)
		all.Go(func() {
			c.write(strings.Repeat(`{"jsonrpc":"2.0","id":1,"method":"t/full"}`+"\n"+`{"jsonrpc":"2.0","id":1,"method":"t/panic"}`+"\n"+
				`{"jsonrpc":"2.0","method":"t/plain"}`+"\nnull\n{\n"+`{"jsonrpc":"2.0","id":1,"method":"x"}`+"\n"+pingLine, rounds))
			if rest := c.end(); len(rest) != 6*rounds {
				t.Errorf("%d responses", len(rest))
			}
		})
	}
	all.Wait()
	stats := m.Stats()
	sum := uint64(0)
	for _, n := range stats.ByCode {
		sum += n
	}
	const each = clients * rounds
	if stats.Total != 6*each || sum != stats.Total || stats.Suppressed != each || stats.ByCode["2400"] != each || stats.BySymbol["INTERNAL_ERROR"] != 2*each {
		t.Errorf("%+v", stats)
	}
	for name, n := range map[string]uint64{"t/full": each, "t/panic": each, "t/plain": each} {
		if got := s.methods[name]; got.calls.Load() != n || got.errors.Load() != n {
			t.Errorf("%s: %d calls, %d errors, want %d", name, got.calls.Load(), got.errors.Load(), n)
		}
	}
}
