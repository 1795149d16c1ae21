// Package scripted is an MCP server that answers as a script says, over lines and over HTTP: for the demo, benchmarks and tests.
// Package zoo is the server with known defects that users run.
package scripted

import (
	"cmp"
	"errors"
	"io"
	"net/http"
	"strconv"

	"github.com/candor-mcp/candor/internal/framing"
	"github.com/candor-mcp/candor/internal/jsontext"
	"github.com/candor-mcp/candor/wire"
)

// Server answers each request. It has no sessions, and speaks the version that the client asks for.
type Server struct {
	Name  string // in initialize
	Tools string // the elements of the list of tools, as JSON
	// Script returns the members of the answer to a request, such as "result":{}, and whether it has one. Without one, the server
	// answers initialize and tools/list by itself, and every other request with an empty result. No members are no answer.
	Script func(m *wire.Message) (members string, ok bool)
}

// Answer appends the answer to a message, or nothing.
func (s *Server) Answer(dst []byte, m *wire.Message) []byte {
	if m.Kind() != wire.KindRequest {
		return dst
	}
	members, ok := s.Script(m)
	switch {
	case ok && members == "":
		return dst
	case ok:
	case m.MethodIs("initialize"):
		members = `"result":{"protocolVersion":` + cmp.Or(string(m.Params().Path("protocolVersion").Raw()), `"2025-11-25"`) +
			`,"capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"` + s.Name + `","version":"1"}}`
	case m.MethodIs("tools/list"):
		members = `"result":{"tools":[` + s.Tools + `]}`
	default:
		members = `"result":{}`
	}
	dst = append(append(dst, `{"jsonrpc":"2.0","id":`...), m.ID()...)
	return append(append(append(dst, ','), members...), '}')
}

// Text returns the members of an answer to tools/call: one block of text, which is an error if failed is set.
func Text(text string, failed bool) string {
	end := `}]}`
	if failed {
		end = `}],"isError":true}`
	}
	return `"result":{"content":[{"type":"text","text":` + string(jsontext.AppendString(nil, text)) + end
}

// Serve answers lines until in ends. Each answer is one write.
func (s *Server) Serve(in io.Reader, out io.Writer) error {
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
		if answer = s.Answer(answer[:0], &m); len(answer) == 0 {
			continue
		}
		answer = append(answer, '\n')
		if _, err := out.Write(answer); err != nil {
			return err
		}
	}
}

// ServeHTTP answers POST requests, each with one JSON document.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, wire.DefaultMaxBytes))
	m := wire.Parse(body, wire.Limits{})
	if err != nil || m.Kind() == wire.KindMalformed {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	answer := s.Answer(make([]byte, 0, 2<<10), &m)
	if len(answer) == 0 {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	w.Header()["Content-Type"] = []string{"application/json"}
	w.Header()["Content-Length"] = []string{strconv.Itoa(len(answer))}
	_, _ = w.Write(answer) // the client notices a failed write
}
