// Package load is the work that gateways are measured with: a server that does next to nothing, and callers that ask it as fast as
// it answers. What both cost is in every figure, with a gateway between them and without, so both are lean.
package load

import (
	"errors"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"

	"github.com/candor-mcp/candor/wire"
)

// The tools of the server.
const (
	Echo = "echo" // its result holds 1 KiB of text
	Fail = "fail" // its result says isError
)

// Env is the variable that makes a test binary this server, if its TestMain asks [Wanted].
const Env = "CANDOR_LOAD_SERVER"

// Wanted reports that this process is to be the server.
func Wanted() bool { return os.Getenv(Env) != "" }

// Main serves over stdin and stdout until stdin ends, and returns the exit code.
func Main() int {
	if err := Serve(os.Stdin, os.Stdout); err != nil {
		return 1
	}
	return 0
}

// Serve answers one line after the other, each with a write of its own, as servers do.
func Serve(in io.Reader, out io.Writer) error {
	lines := wire.NewLineReader(in, wire.Limits{})
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

// Handler is the same server over streamable HTTP, without sessions.
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
			_, _ = w.Write(answer) // a caller that is gone has been counted
		}
	})
}

// Answer appends the answer to a request.
func Answer(dst []byte, m *wire.Message) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	dst = append(dst, m.ID()...)
	dst = append(dst, `,"result":`...)
	return append(append(dst, result(m)...), '}')
}

func result(m *wire.Message) string {
	switch {
	case m.MethodIs("initialize"):
		return `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"load","version":"1"}}`
	case m.MethodIs("tools/list"):
		return `{"tools":[` + tool(Echo) + `,` + tool(Fail) + `]}`
	case !m.MethodIs("tools/call"):
		return `{}`
	case m.Params().Path("name").Is(Fail):
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
