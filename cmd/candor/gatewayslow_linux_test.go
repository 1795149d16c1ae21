package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
)

var hostile = flag.Int("hostile", 1, "how many times as many slow readers there are; make crash has 25, which is what R10 asks")

// mostMemory is the limit for the gateway's peak memory, including the program itself and its mapped files.
const mostMemory = 128 << 20

// lavish is an upstream that answers with more than a slow reader will ever read, unless the call is an echo.
type lavish struct {
	kind  string // media type of the answer
	event int    // bytes of each event before the answer
	size  int    // bytes of the answer
	said  bool   // the answer has a Content-Length

	asked atomic.Int64
}

func (l *lavish) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	request, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	if bytes.Contains(request, []byte(`"echo"`)) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, fineAnswer, 1)
		return
	}
	l.asked.Add(1)
	answer := `{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"` + letters()[:l.size] + `"}]}}`
	w.Header().Set("Content-Type", l.kind)
	if l.kind == "application/json" {
		if l.said {
			w.Header().Set("Content-Length", strconv.Itoa(len(answer)))
		}
		_, _ = io.WriteString(w, answer)
		return
	}
	for range 64 {
		note := `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"` + letters()[:l.event] + `"}}`
		if _, err := io.WriteString(w, "data: "+note+"\n\n"); err != nil {
			return
		}
	}
	_, _ = io.WriteString(w, "data: "+answer+"\n\n")
}

// letters is computed on first use, because scripts also start the test binary as candor.
var letters = sync.OnceValue(func() string { return strings.Repeat("x", 8<<20) })

// TestR10SlowReadersLeaveTheGatewaySmall measures only the gateway: the upstream and the readers are in this process.
func TestR10SlowReadersLeaveTheGatewaySmall(t *testing.T) {
	if testing.Short() {
		return // with the race detector the memory is not meaningful
	}
	for _, test := range []struct {
		name    string
		web     *lavish
		request int // bytes of the arguments
	}{
		{name: "answers of 1 MiB in chunks", web: &lavish{kind: "application/json", size: 1 << 20}},
		{name: "answers of 8 MiB", web: &lavish{kind: "application/json", size: 8 << 20, said: true}},
		{name: "small events", web: &lavish{kind: "text/event-stream", event: 100, size: 100}},
		{name: "events of 8 MiB", web: &lavish{kind: "text/event-stream", event: 8 << 20, size: 100}},
		{name: "requests of 1 MiB", web: &lavish{kind: "application/json", size: 1 << 20, said: true}, request: 1 << 20},
	} {
		t.Run(test.name, func(t *testing.T) {
			if *hostile == 1 { // more connections than one process may open by default
				t.Parallel()
			}
			web := httptest.NewServer(test.web)
			t.Cleanup(func() { web.CloseClientConnections(); web.Close() })
			g := newGate(t, configText(web.URL, ""))
			before := g.memory(t)
			readers := 40 * *hostile
			leave := readSlowly(t, g, readers, letters()[:test.request])
			if got := g.mustCall(t, 1, "echo"); got != fmt.Sprintf(fineAnswer, 1) {
				t.Errorf("another client was answered %s", got)
			}
			peak := g.memory(t)
			leave()
			t.Logf("%d readers, %d calls forwarded: %d MiB before, %d MiB at the peak", readers, test.web.asked.Load(), before>>20, peak>>20)
			if peak > mostMemory && !raceDetector { // the race detector uses many times the memory of the program
				t.Errorf("the gateway took %d MiB for %d slow readers", peak>>20, readers)
			}
			g.signal(syscall.SIGTERM)
			if code := g.ends(); code != term.ExitOK {
				t.Errorf("ended with %d: %s", code, g.said)
			}
			t.Logf("recorded %v", g.recorded())
		})
	}
}

// readSlowly makes calls, reads their answers one byte at a time, and returns when memory no longer grows. The readers run until
// leave is called.
func readSlowly(t *testing.T, g *gate, readers int, argument string) (leave func()) {
	t.Helper()
	call := `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"read","arguments":{"path":"` + argument + `"}}}`
	request := fmt.Sprintf("POST /it/ HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(call), call)
	gone := make(chan struct{})
	var all, asked sync.WaitGroup
	for range readers {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(g.address, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetReadBuffer(4096)
		}
		asked.Add(1)
		all.Go(func() {
			defer conn.Close() //nolint:errcheck // it was only read
			ask := sync.OnceFunc(asked.Done)
			time.AfterFunc(time.Second, ask) // a request that waits for the budget counts as sent
			_ = conn.SetWriteDeadline(time.Now().Add(20 * time.Second))
			_, _ = io.WriteString(conn, request)
			ask()
			for {
				select {
				case <-gone:
					return
				case <-time.After(50 * time.Millisecond):
				}
				_ = conn.SetReadDeadline(time.Now().Add(time.Millisecond))
				_, _ = conn.Read(make([]byte, 1))
			}
		})
	}
	asked.Wait()
	g.settle(t)
	return func() { close(gone); all.Wait() }
}

// settle waits until the peak of the memory has not grown for a second.
func (g *gate) settle(t *testing.T) {
	t.Helper()
	was := 0
	untilCalm(func() bool {
		now := g.memory(t)
		grown := now > was
		was = now
		return grown
	})
}

// untilCalm returns when changed has returned false for a second: no event marks that nothing more comes.
func untilCalm(changed func() bool) {
	for calm := 0; calm < 50; calm++ {
		time.Sleep(20 * time.Millisecond)
		if changed() {
			calm = 0
		}
	}
}

var peakLine = regexp.MustCompile(`VmHWM:\s+(\d+) kB`)

// memory returns the peak memory of the process so far.
func (g *gate) memory(t *testing.T) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", g.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	found := peakLine.FindSubmatch(status)
	if found == nil {
		t.Fatalf("no peak in %s", status)
	}
	kib, err := strconv.Atoi(string(found[1]))
	if err != nil {
		t.Fatal(err)
	}
	return kib << 10
}
