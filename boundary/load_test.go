package boundary

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor/internal/framing"
	"github.com/candor-mcp/candor/internal/testing/testbinary"
	"github.com/candor-mcp/candor/wire"
)

// raceEnabled reports whether the test runs under the race detector.
var raceEnabled bool

var fullLoad = flag.Bool("load", false, "run TestLoadMemory with the workloads of target P17")

func TestMain(m *testing.M) {
	flag.Parse()
	testbinary.Parallel(6) // the tests that may run at the same time mostly wait
	os.Exit(m.Run())
}

// Limits of the memory that a server may use while its clients send calls and do not read the answers, and the size of one answer.
const (
	loadLimit  = 256 << 20
	loadAnswer = 500_000
	loadEnv    = "CANDOR_TEST_LOAD"
)

// loadSize returns the size of a workload: small in the suite, where 0 omits it, and full with -load.
func loadSize(small, full int) int {
	if *fullLoad {
		return full
	}
	return small
}

// TestLoadChild is the server process that the tests below measure; it is not a test itself.
func TestLoadChild(t *testing.T) {
	transport := os.Getenv(loadEnv)
	if transport == "" {
		return // only for the tests that start it as a process
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "load", Version: "1"}, nil)
	add := func(name string, h mcp.ToolHandler) {
		server.AddTool(&mcp.Tool{Name: name, InputSchema: &jsonschema.Schema{Type: "object"}}, h)
	}
	add("read", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return text(strings.Repeat("x", loadAnswer)), nil
	})
	add("huge", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return text(strings.Repeat("x", 10*loadAnswer)), nil
	})
	add("fails", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return nil, errors.New("the backend is gone")
	})
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	var err error
	if transport == "stdio" {
		err = Install(server, Options{Logger: quiet}).serveStdio(ctx, server)
	} else {
		var listener net.Listener
		if listener, err = net.Listen("tcp", "127.0.0.1:0"); err == nil {
			fmt.Fprintln(os.Stderr, listener.Addr())
			err = serveOn(ctx, smallBuffers{listener}, server, Options{Logger: quiet})
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// smallBuffers is a listener that gives connections small kernel buffers, so that unread answers stay in the process.
type smallBuffers struct{ net.Listener }

func (l smallBuffers) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetWriteBuffer(16 << 10)
	}
	return conn, err
}

// loadServer is a running TestLoadChild.
type loadServer struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    io.ReadCloser
	stderr io.ReadCloser
}

func startLoadServer(t *testing.T, transport string) *loadServer {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("reads the memory of a process from /proc")
	}
	if raceEnabled {
		t.Skip("the race detector multiplies the memory of a process")
	}
	s := &loadServer{cmd: exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestLoadChild$")}
	s.cmd.Env = append(os.Environ(), loadEnv+"="+transport)
	var errs [3]error
	s.in, errs[0] = s.cmd.StdinPipe()
	s.out, errs[1] = s.cmd.StdoutPipe()
	s.stderr, errs[2] = s.cmd.StderrPipe()
	if err := errors.Join(errors.Join(errs[:]...), s.cmd.Start()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
	})
	return s
}

// peak returns the highest resident memory of the process so far.
func (s *loadServer) peak(t *testing.T) int64 {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(s.cmd.Process.Pid), "status"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		if value, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return kib << 10
		}
	}
	t.Fatal("no VmHWM")
	return 0
}

// settledPeak waits until the peak has not changed for a second.
func (s *loadServer) settledPeak(t *testing.T) int64 {
	t.Helper()
	last, since := s.peak(t), time.Now()
	for time.Since(since) < time.Second {
		time.Sleep(50 * time.Millisecond) // samples: the kernel notifies nothing
		if now := s.peak(t); now != last {
			last, since = now, time.Now()
		}
	}
	return last
}

// checkPeak fails the test if the server has used more memory than allowed.
func (s *loadServer) checkPeak(t *testing.T) {
	t.Helper()
	peak := s.settledPeak(t)
	t.Logf("peak memory %d MiB", peak>>20)
	if peak > loadLimit {
		t.Errorf("peak memory %d MiB, want at most %d MiB", peak>>20, loadLimit>>20)
	}
}

// TestLoadMemoryOfUnreadStdout pipelines calls and does not read answers until the memory of the server has stopped growing. Then
// every call must be answered exactly once.
func TestLoadMemoryOfUnreadStdout(t *testing.T) {
	t.Parallel() // another process is measured, and mostly waited for
	for tool, calls := range map[string]int{"read": loadSize(240, 4000), "fails": loadSize(3000, 15000), "huge": loadSize(0, 300)} {
		if calls == 0 {
			continue
		}
		t.Run(tool, func(t *testing.T) {
			s := startLoadServer(t, "stdio")
			go func() { _, _ = io.Copy(io.Discard, s.stderr) }()
			go func() {
				w := bufio.NewWriter(s.in)
				_, _ = w.WriteString(`{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` + "\n" +
					`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n")
				for i := range calls {
					_, _ = w.WriteString(emitsCall(i, tool) + "\n")
				}
				_ = w.Flush()
			}()
			s.checkPeak(t)
			s.readAnswers(t, calls)
		})
	}
}

// readAnswers reads the answer to initialize and to each call.
func (s *loadServer) readAnswers(t *testing.T, calls int) {
	t.Helper()
	seen := make(map[string]bool)
	lines := framing.NewLineReader(s.out, wire.Limits{})
	for len(seen) < calls+1 {
		line, err := lines.Next()
		if err != nil {
			t.Fatalf("after %d answers: %v", len(seen), err)
		}
		id := string(framing.PeekID(line.Bytes[:min(len(line.Bytes), 200)], nil))
		if id == "" || seen[id] {
			t.Fatalf("unexpected answer %.200s", line.Bytes)
		}
		seen[id] = true
	}
}

// TestLoadMemoryOfSlowHTTPReaders opens connections that send one call each and do not read. Then each must get an answer: the result,
// or a refusal with a code.
func TestLoadMemoryOfSlowHTTPReaders(t *testing.T) {
	t.Parallel() // another process is measured, and mostly waited for
	for tool, readers := range map[string]int{"read": loadSize(0, 600), "huge": loadSize(30, 60)} {
		if readers > 0 {
			t.Run(tool, func(t *testing.T) { checkSlowReaders(t, tool, readers) })
		}
	}
}

func checkSlowReaders(t *testing.T, tool string, readers int) {
	t.Helper()
	s := startLoadServer(t, "http")
	stderr := bufio.NewReader(s.stderr)
	addr, err := stderr.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, stderr) }()
	addr = strings.TrimSpace(addr)
	conns := make([]net.Conn, readers)
	for i := range conns {
		conns[i] = openSlowReader(t, addr, tool, i)
	}
	s.checkPeak(t)
	var wg sync.WaitGroup
	var mu sync.Mutex
	statuses := map[int]int{}
	for _, conn := range conns {
		wg.Go(func() {
			status := readSlowAnswer(t, conn)
			mu.Lock()
			defer mu.Unlock()
			statuses[status]++
		})
	}
	wg.Wait()
	t.Logf("answers by status: %v", statuses)
	if statuses[http.StatusOK] == 0 || statuses[http.StatusOK]+statuses[http.StatusServiceUnavailable] != len(conns) {
		t.Errorf("answers by status: %v", statuses)
	}
}

// openSlowReader opens a connection and sends one call over it.
func openSlowReader(t *testing.T, addr, tool string, i int) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"%s","arguments":{},"_meta":{`+
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},`+
		`"io.modelcontextprotocol/clientCapabilities":{}}}}`, i, tool)
	_, err = fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"+
		"Mcp-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: %s\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", addr, tool, len(body), body)
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// readSlowAnswer reads the answer and returns its status. A result must be complete, and a refusal must have an envelope.
func readSlowAnswer(t *testing.T, conn net.Conn) int {
	_ = conn.SetReadDeadline(time.Now().Add(5 * time.Minute))
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Error(err)
		return 0
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Errorf("status %d: %v", res.StatusCode, err)
	}
	if res.StatusCode == http.StatusOK && len(body) < loadAnswer {
		t.Errorf("short answer: %.300s", body)
	}
	if res.StatusCode != http.StatusOK && codeIn(body) == "" {
		t.Errorf("status %d without a code: %.300s", res.StatusCode, body)
	}
	return res.StatusCode
}
