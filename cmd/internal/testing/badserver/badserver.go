//go:build unix

// Package badserver is an MCP server over stdin and stdout that misbehaves on demand, for tests of clients and gateways. Each of
// its tools is a fault, named after it; see [Faults]. It writes raw bytes, so that it can send output that no library would.
//
// A test binary becomes this server when it is started again with [Env] set; its TestMain begins with
//
//	if badserver.Wanted() {
//		os.Exit(badserver.Main())
//	}
package badserver

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/candor-mcp/candor/internal/scripted"
	"github.com/candor-mcp/candor/wire"
)

// Env is the variable that makes a binary this server: "server", or "sleeper" for a process that only sleeps.
const Env = "CANDOR_BAD_SERVER"

// Begun is the line on stderr for each call of "hang" or "late".
const Begun = "badserver: a call has begun"

// Wanted reports whether this process should run the server.
func Wanted() bool { return os.Getenv(Env) != "" }

// Main serves until stdin ends, and returns the exit code.
func Main() int {
	if os.Getenv(Env) == "sleeper" {
		signal.Ignore(syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT)
		hang()
		return 0
	}
	s := &server{out: os.Stdout, answers: map[string]chan json.RawMessage{}, cancelled: map[string]chan struct{}{}}
	s.honest = scripted.Server{Name: "badserver", Tools: strings.Join(listed(), ","), Script: func(*wire.Message) (string, bool) { return "", false }}
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 1 {
			s.receive(line)
		}
		if err != nil {
			if s.stubborn() {
				hang()
			}
			return 0
		}
	}
}

// server is the part that behaves correctly.
type server struct {
	honest scripted.Server // answers everything but calls

	mu        sync.Mutex // guards the fields below
	out       io.Writer
	answers   map[string]chan json.RawMessage // responses of the client, by id of the server's request
	asked     int
	cancelled map[string]chan struct{} // closed when the call with that id is cancelled
	deaf      bool                     // it ignores signals and the end of its input
}

// request holds the relevant parts of a client's message.
type request struct {
	ID     json.RawMessage
	Method string
	Params struct {
		Name      string
		Arguments arguments
		RequestID json.RawMessage
		Meta      struct {
			ProgressToken json.RawMessage `json:"progressToken"`
		} `json:"_meta"`
	}
}

// arguments configure the count, the duration or the text of a fault.
type arguments struct {
	N    int
	Ms   int
	Text string
}

func (s *server) receive(line []byte) {
	var r request
	if err := json.Unmarshal(line, &r); err != nil {
		fmt.Fprintln(os.Stderr, "badserver: not understood:", err)
		return
	}
	switch {
	case r.Method == "":
		s.mu.Lock()
		if answer := s.answers[string(r.ID)]; answer != nil {
			answer <- slices.Clone(line)
			delete(s.answers, string(r.ID))
		}
		s.mu.Unlock()
	case r.Method == "tools/call":
		s.call(r)
	case r.Method == "notifications/cancelled":
		select {
		case <-s.cancellation(string(r.Params.RequestID)):
		default:
			close(s.cancellation(string(r.Params.RequestID)))
		}
	case r.ID != nil:
		m := wire.Parse(line, wire.Limits{})
		s.write(append(s.honest.Answer(nil, &m), '\n'))
	}
}

func (s *server) call(r request) {
	fault, ok := faults[r.Params.Name]
	if !ok {
		s.write([]byte(`{"jsonrpc":"2.0","id":` + string(r.ID) + `,"error":{"code":-32602,"message":"unknown tool"}}` + "\n"))
		return
	}
	if fault.blocks {
		fault.do(s, r)
		return
	}
	go fault.do(s, r)
}

// cancellation returns a channel that is closed when the call with that id is cancelled.
func (s *server) cancellation(id string) chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cancelled[id] == nil {
		s.cancelled[id] = make(chan struct{})
	}
	return s.cancelled[id]
}

// pause waits as long as the arguments say: slow answers are faults too.
func pause(r request) { time.Sleep(time.Duration(r.Params.Arguments.Ms) * time.Millisecond) }

// hang does nothing, but ends by itself, in case the test that started the server does not end it.
func hang() { time.Sleep(10 * time.Minute) }

// write writes raw bytes immediately.
func (s *server) write(b []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = s.out.Write(b)
}

func (s *server) stubborn() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.deaf
}

// result returns a line that answers with a result.
func result(id json.RawMessage, result string) []byte {
	return []byte(`{"jsonrpc":"2.0","id":` + string(id) + `,"result":` + result + "}\n")
}

// text returns a line that answers a tool call with a text.
func text(id json.RawMessage, words string) []byte {
	quoted, _ := json.Marshal(words)
	return result(id, `{"content":[{"type":"text","text":`+string(quoted)+`}]}`)
}

func listed() []string {
	tools := make([]string, 0, len(faults))
	for _, name := range Faults() {
		hints := ""
		if faults[name].idempotent {
			hints = `,"annotations":{"idempotentHint":true}`
		}
		tools = append(tools, `{"name":"`+name+`","inputSchema":{"type":"object","properties":{"n":{"type":"integer"},`+
			`"ms":{"type":"integer"},"text":{"type":"string"}},"additionalProperties":false}`+hints+`}`)
	}
	return tools
}
