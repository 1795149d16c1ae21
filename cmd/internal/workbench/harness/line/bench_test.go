package line

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/domain"
	"github.com/candor-mcp/candor/codes/kg"
	"github.com/candor-mcp/candor/internal/ref"
	"github.com/candor-mcp/candor/ledger"
	"github.com/candor-mcp/candor/meter"
)

// BenchmarkPipe compares the server with a simple implementation of the same protocol: encoding/json, and one goroutine
// for each line. Both answer the same lines over pipes, in turns, and the ratio of their times is reported as
// "x-naive".
//
// In "recorded" the server has a ledger, so that every failure is on disk before it is sent. It is compared with the
// simple implementation without any record, and as "x-synced" with one that appends each response to a file and syncs
// it, which gives the same guarantee.
func BenchmarkPipe(b *testing.B) {
	const failing = `{"jsonrpc":"2.0","id":12345,"method":"t/full","params":{}}`
	for _, kind := range []struct {
		name, line string
		record     bool
	}{
		{"ping", `{"jsonrpc":"2.0","id":12345,"method":"sys/ping"}`, false},
		{"echo", `{"jsonrpc":"2.0","id":12345,"method":"t/echo","params":{"text":"hello"}}`, false},
		{"failing", failing, false},
		{"recorded", failing, true},
	} {
		b.Run(kind.name, func(b *testing.B) { comparePipes(b, []byte(kind.line+"\n"), kind.record) })
	}
}

func comparePipes(b *testing.B, line []byte, record bool) {
	m, err := meter.New(meter.Options{})
	if err != nil {
		b.Fatal(err)
	}
	o := Options{Logger: slog.New(slog.DiscardHandler), Meter: m}
	if record {
		trail, err := ledger.Open(b.TempDir(), ledger.Options{})
		if err != nil {
			b.Fatal(err)
		}
		defer trail.Close() //nolint:errcheck // the benchmark is over
		o.Recorder = trail
	}
	s, err := New([]domain.Domain{testDomain()}, o)
	if err != nil {
		b.Fatal(err)
	}
	ours := func(in io.Reader, out io.Writer) error { return s.Serve(context.Background(), in, out) }
	const lines, syncedLines = 20_000, 400
	var fast, slow, synced time.Duration
	for b.Loop() {
		fast += timePipe(b, ours, line, lines, 1)
		slow += timePipe(b, new(naive).serve, line, lines, 0)
		if record {
			synced += timePipe(b, (&naive{file: tempFile(b)}).serve, line, syncedLines, 0)
		}
	}
	b.ReportMetric(float64(slow)/float64(fast), "x-naive")
	b.ReportMetric(float64(fast.Nanoseconds())/float64(b.N*lines), "ns/line")
	b.ReportMetric(float64(slow.Nanoseconds())/float64(b.N*lines), "naive-ns/line")
	if record {
		b.ReportMetric(float64(synced)/syncedLines/(float64(fast)/lines), "x-synced")
		b.ReportMetric(float64(synced.Nanoseconds())/float64(b.N*syncedLines), "synced-ns/line")
	}
	b.ReportMetric(0, "ns/op")
}

func tempFile(b *testing.B) *os.File {
	b.Helper()
	file, err := os.Create(filepath.Join(b.TempDir(), "record"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = file.Close() })
	return file
}

// timePipe sends the line n times and waits for all responses; skip is the number of lines before them.
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
	file   *os.File // failures are appended and synced; nil records nothing
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
		s.record(r)
	}
	_ = s.out.Encode(r)
}

func (s *naive) record(r naiveResponse) {
	if s.file == nil {
		return
	}
	if json.NewEncoder(s.file).Encode(r) != nil || s.file.Sync() != nil {
		panic("the record could not be written")
	}
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

// full returns the error that the rpc dialect writes for the same failure.
func (s *naive) full(_ context.Context, params json.RawMessage) *naiveError {
	var in map[string]any
	if len(params) > 0 && json.Unmarshal(params, &in) != nil || len(in) > 0 {
		return &naiveError{Code: 1000, Message: "Invalid parameters"}
	}
	code := kg.Full
	return &naiveError{Code: code.Number(), Message: code.Sentence(), Data: map[string]any{
		"domain": code.Domain(), "symbol": code.Symbol(), "details": "1", "retryable": code.Retry().Retryable(),
		"dev.candor/error": map[string]any{
			"code": code.Symbol(), "class": code.Class(), "message": code.Sentence(), "retry": code.Retry(), "suggestion": code.Action(),
			"details": "1", "domain": code.Domain(), "number": code.Number(), "origin": map[string]any{"by": "tool", "inferred": false},
			"ref": ref.New(), "tool": "t/full", "timestamp": time.Now().UTC().Format(candor.TimeLayout),
		},
	}}
}
