package line

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/domain"
	"github.com/candor-mcp/candor/codes/kg"
	"github.com/candor-mcp/candor/meter"
)

var (
	meeting = make(chan struct{}) // of two calls of t/meet
	unstuck = make(chan struct{}) // never closed: t/stuck ignores its context
)

// testDomain has one method for each way in which a call can end.
func testDomain() domain.Domain {
	method := func(name, input string, run func(context.Context, json.RawMessage) (any, error)) domain.Method {
		return domain.Method{Name: "t/" + name, Input: input, Run: run}
	}
	type in struct {
		Text string `json:"text"`
	}
	echo := method("echo", `{"text":{"type":"string"}}`, domain.Bind(func(_ context.Context, in in) (in, error) { return in, nil }))
	echo.Required = []string{"text"}
	return domain.Domain{Name: "kg", Methods: []domain.Method{
		echo,
		method("full", "", func(context.Context, json.RawMessage) (any, error) {
			return nil, domain.Fail(kg.Full, "1", nil)
		}),
		method("plain", "", func(context.Context, json.RawMessage) (any, error) {
			_, err := os.Open("/no/such/folder/secret.txt")
			return nil, err
		}),
		method("panic", "", func(context.Context, json.RawMessage) (any, error) { panic("secret /no/such/place") }),
		method("goexit", "", func(context.Context, json.RawMessage) (any, error) {
			runtime.Goexit()
			return nil, nil
		}),
		method("wait", "", func(ctx context.Context, _ json.RawMessage) (any, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}),
		method("meet", "", func(ctx context.Context, _ json.RawMessage) (any, error) {
			select { // returns when two calls run at the same time
			case meeting <- struct{}{}:
			case <-meeting:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
			return "met", nil
		}),
		method("stuck", "", func(context.Context, json.RawMessage) (any, error) {
			<-unstuck
			return nil, nil
		}),
		method("nan", "", func(context.Context, json.RawMessage) (any, error) { return func() {}, nil }),
		method("raw", "", func(context.Context, json.RawMessage) (any, error) { return json.RawMessage("{\n\"a\":\r\n1}"), nil }),
	}}
}

// recorded is a recorder in memory.
type recorded struct {
	mu      sync.Mutex
	entries []entry
	refuse  error
}

type entry struct{ code, verdict, method, cause, envelope string }

func (r *recorded) RecordFailure(_ context.Context, f candor.Failure) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.refuse != nil {
		return r.refuse
	}
	r.entries = append(r.entries, entry{f.Error.Code().Symbol(), f.Verdict, f.Method, f.Error.Cause().Message, string(f.Sent)})
	return nil
}

func (r *recorded) all() []entry {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]entry(nil), r.entries...)
}

// client is the other end of a server's pipes.
type client struct {
	t      testing.TB
	in     *os.File
	out    *bufio.Reader
	outEnd *os.File
	served chan error
	meter  *meter.Meter
	record *recorded
	ready  response
}

// start serves the test domain over pipes and reads the ready line.
func start(t testing.TB, change func(*Options)) *client {
	t.Helper()
	m, err := meter.New(meter.Options{})
	if err != nil {
		t.Fatal(err)
	}
	record := &recorded{}
	o := Options{Logger: slog.New(slog.DiscardHandler), Level: new(slog.LevelVar), Recorder: record, Meter: m, ErrorStats: true, Timeout: 20 * time.Second}
	if change != nil {
		change(&o)
	}
	s, err := New([]domain.Domain{testDomain()}, o)
	if err != nil {
		t.Fatal(err)
	}
	c := connect(context.Background(), t, s)
	c.meter, c.record = m, record
	return c
}

// connect serves s over a new pair of pipes.
func connect(ctx context.Context, t testing.TB, s *Server) *client {
	t.Helper()
	stdin, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, stdout, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c := &client{t: t, in: in, out: bufio.NewReaderSize(out, 1<<16), outEnd: out, served: make(chan error, 1)}
	go func() {
		err := s.Serve(ctx, stdin, stdout)
		_ = stdout.Close()
		c.served <- err
	}()
	t.Cleanup(func() {
		_ = in.Close()
		_ = out.Close()
		_ = stdin.Close()
	})
	c.ready = c.next()
	return c
}

// response is any line that the server writes.
type response struct {
	line string

	Type    string   `json:"type"`
	Methods []string `json:"methods"`
	Server  *string  `json:"server"`

	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  json.RawMessage `json:"result"`
	Error   *rpcFailure     `json:"error"`
}

type rpcFailure struct {
	Code    int         `json:"code"`
	Message string      `json:"message"`
	Data    failureData `json:"data"`
}

type failureData struct {
	Domain       string          `json:"domain"`
	Symbol       string          `json:"symbol"`
	Retryable    *bool           `json:"retryable"`
	RetryAfterMs int64           `json:"retryAfterMs"`
	Details      json.RawMessage `json:"details"`
	Allowed      []string        `json:"allowed"`
	Stack        string          `json:"stack"`
	Canonical    json.RawMessage `json:"dev.candor/error"`
}

func (c *client) write(text string) {
	c.t.Helper()
	if _, err := io.WriteString(c.in, text); err != nil {
		c.t.Fatal(err)
	}
}

// line reads one line, "" at the end of the stream.
func (c *client) line() string {
	c.t.Helper()
	_ = c.outEnd.SetReadDeadline(time.Now().Add(2 * time.Minute))
	text, err := c.out.ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		c.t.Fatalf("reading a response: %v (got %q)", err, text)
	}
	return strings.TrimSuffix(text, "\n")
}

func (c *client) next() response {
	c.t.Helper()
	return parse(c.t, c.line())
}

func parse(t testing.TB, text string) response {
	t.Helper()
	r := response{line: text}
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return r
}

// ask sends one line and returns the next response.
func (c *client) ask(line string) response {
	c.t.Helper()
	c.write(line + "\n")
	return c.next()
}

// end closes the input and returns the remaining lines. It fails the test if Serve returns an error.
func (c *client) end() (rest []string) {
	c.t.Helper()
	_ = c.in.Close()
	for text := c.line(); text != ""; text = c.line() {
		rest = append(rest, text)
	}
	if err := <-c.served; err != nil {
		c.t.Errorf("Serve: %v", err)
	}
	return rest
}
