package line

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/ref"
	"github.com/candor-mcp/candor/meter"
	"github.com/candor-mcp/candor/workbench/harness/domain"
)

// BenchmarkPipe compares the server with the same protocol written plainly: encoding/json, and one goroutine for each line. Both answer
// the same lines over pipes, in turns, and the ratio of their times is reported as "x-naive".
func BenchmarkPipe(b *testing.B) {
	for _, kind := range []struct{ name, line string }{
		{"ping", `{"jsonrpc":"2.0","id":12345,"method":"sys/ping"}`},
		{"echo", `{"jsonrpc":"2.0","id":12345,"method":"t/echo","params":{"text":"hello"}}`},
		{"failing", `{"jsonrpc":"2.0","id":12345,"method":"t/full","params":{}}`},
	} {
		b.Run(kind.name, func(b *testing.B) { comparePipes(b, []byte(kind.line+"\n")) })
	}
}

func comparePipes(b *testing.B, line []byte) {
	m, err := meter.New(meter.Options{})
	if err != nil {
		b.Fatal(err)
	}
	s, err := New([]domain.Domain{testDomain()}, Options{Logger: slog.New(slog.DiscardHandler), Meter: m})
	if err != nil {
		b.Fatal(err)
	}
	ours := func(in io.Reader, out io.Writer) error { return s.Serve(context.Background(), in, out) }
	const lines = 20_000
	var fast, slow time.Duration
	for b.Loop() {
		fast += timePipe(b, ours, line, lines, 1)
		slow += timePipe(b, new(naive).serve, line, lines, 0)
	}
	b.ReportMetric(float64(slow)/float64(fast), "x-naive")
	b.ReportMetric(float64(fast.Nanoseconds())/float64(b.N*lines), "ns/line")
	b.ReportMetric(float64(slow.Nanoseconds())/float64(b.N*lines), "naive-ns/line")
	b.ReportMetric(0, "ns/op")
}

// timePipe sends the line n times and waits for all responses; skip counts the lines that come before.
func timePipe(b *testing.B, serve func(io.Reader, io.Writer) error, line []byte, n, skip int) time.Duration {
	stdin, in, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	out, stdout, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	begin := time.Now()
	go func() {
		_ = serve(stdin, stdout)
		_ = stdout.Close()
	}()
	go func() {
		const perWrite = 400
		chunk := bytes.Repeat(line, perWrite)
		for sent := 0; sent < n; sent += perWrite {
			_, _ = in.Write(chunk)
		}
		_ = in.Close()
	}()
	got, buffer := 0, make([]byte, 1<<16)
	for {
		k, err := out.Read(buffer)
		got += bytes.Count(buffer[:k], []byte("\n"))
		if err != nil {
			break
		}
	}
	took := time.Since(begin)
	_, _ = stdin.Close(), out.Close()
	if got != n+skip {
		b.Fatalf("%d responses to %d lines", got, n)
	}
	return took
}

// naive serves the same methods with encoding/json.
type naive struct {
	mu     sync.Mutex
	out    *json.Encoder
	counts map[string]int
}

func (s *naive) serve(in io.Reader, out io.Writer) error {
	s.out, s.counts = json.NewEncoder(out), map[string]int{}
	lines := bufio.NewScanner(in)
	var calls sync.WaitGroup
	for lines.Scan() {
		text := bytes.Clone(lines.Bytes())
		calls.Go(func() { s.answer(text) })
	}
	calls.Wait()
	return lines.Err()
}

type naiveResponse struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  any             `json:"result,omitempty"`
	Error   *naiveError     `json:"error,omitempty"`
}

type naiveError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data"`
}

func (s *naive) answer(text []byte) {
	var request struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Method  string          `json:"method"`
		Params  json.RawMessage `json:"params"`
	}
	r := naiveResponse{JSONRPC: "2.0"}
	if json.Unmarshal(text, &request) != nil || request.JSONRPC != "2.0" {
		r.Error = &naiveError{Code: -32700, Message: "Invalid JSON"}
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	r.ID = request.ID
	switch request.Method {
	case "sys/ping":
		r.Result = map[string]any{}
	case "t/echo":
		r.Result, r.Error = s.echo(ctx, request.Params)
	case "t/full":
		r.Error = s.full(ctx, request.Params)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Error != nil {
		s.counts["total"]++
		s.counts[r.Error.Message]++
	}
	_ = s.out.Encode(r)
}

func (s *naive) echo(_ context.Context, params json.RawMessage) (any, *naiveError) {
	var in struct {
		Text *string `json:"text"`
	}
	if json.Unmarshal(params, &in) != nil || in.Text == nil {
		return nil, &naiveError{Code: 1000, Message: "Invalid parameters"}
	}
	return in, nil
}

// full returns what the rpc dialect writes for the same failure.
func (s *naive) full(_ context.Context, params json.RawMessage) *naiveError {
	var in map[string]any
	if len(params) > 0 && json.Unmarshal(params, &in) != nil || len(in) > 0 {
		return &naiveError{Code: 1000, Message: "Invalid parameters"}
	}
	code := candor.CodeKgKgFull
	return &naiveError{Code: code.Number(), Message: code.Sentence(), Data: map[string]any{
		"domain": code.Domain(), "symbol": code.Symbol(), "details": "1", "retryable": code.Retry().Retryable(),
		"dev.candor/error": map[string]any{
			"code": code.Symbol(), "class": code.Class(), "message": code.Sentence(), "retry": code.Retry(), "suggestion": code.Action(),
			"details": "1", "domain": code.Domain(), "number": code.Number(), "origin": map[string]any{"by": "tool", "inferred": false},
			"ref": ref.New(), "tool": "t/full", "timestamp": time.Now().UTC().Format(candor.TimeLayout),
		},
	}}
}
