// Package load provides the workload for measuring gateways: a server that does almost nothing, and callers that call it as fast
// as it answers. Every figure includes the cost of both, with and without a gateway, so both are kept cheap.
package load

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"

	"github.com/candor-mcp/candor/internal/framing"
	"github.com/candor-mcp/candor/wire"
)

// The tools of the server.
const (
	Echo = "echo" // its result contains 1 KiB of text
	Fail = "fail" // its result has isError set
)

// Env is the variable that makes a test binary this server, if its TestMain checks [Wanted]. Its value is [Plain] or [Lean].
const Env = "CANDOR_LOAD_SERVER"

// The variants of the server. Lean is faster than real servers, so it shows the worst case for the gateway.
const (
	Plain = "plain" // only encoding/json, like the fastest servers in practice
	Lean  = "lean"  // decodes only the necessary parts
)

// Wanted reports whether this process should run the server.
func Wanted() bool { return os.Getenv(Env) != "" }

// Main serves over stdin and stdout until stdin ends, and returns the exit code.
func Main() int {
	serve := ServePlainly
	if os.Getenv(Env) == Lean {
		serve = Serve
	}
	if err := serve(os.Stdin, os.Stdout); err != nil {
		return 1
	}
	return 0
}

// ServePlainly answers one line after the other with encoding/json.
func ServePlainly(in io.Reader, out io.Writer) error {
	lines, answers := bufio.NewReaderSize(in, 64<<10), json.NewEncoder(out)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		var r request
		if err := json.Unmarshal(line, &r); err != nil {
			return err
		}
		if r.ID == nil {
			continue
		}
		if err := answers.Encode(response{"2.0", r.ID, json.RawMessage(result(r.Method, r.Params.Name))}); err != nil {
			return err
		}
	}
}

type request struct {
	ID     json.RawMessage
	Method string
	Params struct {
		Name      string
		Arguments struct {
			Path  string
			Limit int
		}
	}
}

type response struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  any             `json:"result"`
}

// Serve is like ServePlainly, but without encoding/json. Each answer is one write, as in other servers.
func Serve(in io.Reader, out io.Writer) error {
	lines := framing.NewLineReader(in, wire.Limits{})
	var answer []byte
	for {
		line, err := lines.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		m := wire.Parse(line.Bytes, wire.Limits{})
		if m.Kind() != wire.KindRequest {
			continue
		}
		answer = append(Answer(answer[:0], &m), '\n')
		if _, err := out.Write(answer); err != nil {
			return err
		}
	}
}

// Handler returns the same server over streamable HTTP, without sessions.
func Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		body, err := io.ReadAll(io.LimitReader(r.Body, wire.DefaultMaxBytes))
		m := wire.Parse(body, wire.Limits{})
		switch {
		case err != nil || m.Kind() == wire.KindMalformed:
			w.WriteHeader(http.StatusBadRequest)
		case m.Kind() != wire.KindRequest:
			w.WriteHeader(http.StatusAccepted)
		default:
			answer := Answer(make([]byte, 0, 2<<10), &m)
			w.Header()["Content-Type"] = []string{"application/json"}
			w.Header()["Content-Length"] = []string{strconv.Itoa(len(answer))}
			_, _ = w.Write(answer) // the caller counts a failed call
		}
	})
}

// Answer appends the answer to a request.
func Answer(dst []byte, m *wire.Message) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	dst = append(dst, m.ID()...)
	dst = append(dst, `,"result":`...)
	name, _ := m.Params().Path("name").StrBytes()
	return append(append(dst, result(string(m.Method()), string(name))...), '}')
}

func result(method, name string) string {
	switch {
	case method == "initialize":
		return `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"load","version":"1"}}`
	case method == "tools/list":
		return `{"tools":[` + tool(Echo) + `,` + tool(Fail) + `]}`
	case method != "tools/call":
		return `{}`
	case name == Fail:
		return failure
	default:
		return success
	}
}

func tool(name string) string {
	return `{"name":"` + name + `","description":"for measuring","inputSchema":{"type":"object","properties":` +
		`{"path":{"type":"string"},"limit":{"type":"integer"}},"required":["path"]}}`
}

var success = `{"content":[{"type":"text","text":"` + strings.Repeat("all work and no play ", 1024/21) + `"}]}`

const failure = `{"content":[{"type":"text","text":"no such file: notes/today.md"}],"isError":true}`
