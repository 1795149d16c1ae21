// Package load provides the workload for measuring gateways: a server that does almost nothing, and callers that call it as fast
// as it answers. Every figure includes the cost of both, with and without a gateway, so both are kept cheap.
package load

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/candor-mcp/candor/internal/scripted"
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
		serve = Server.Serve
	}
	if err := serve(os.Stdin, os.Stdout); err != nil {
		return 1
	}
	return 0
}

// Server is the lean variant.
var Server = &scripted.Server{Name: "load", Tools: tool(Echo) + "," + tool(Fail), Script: func(m *wire.Message) (string, bool) {
	switch {
	case !m.MethodIs("tools/call"):
		return "", false
	case m.Params().Path("name").Is(Fail):
		return leanFailure, true
	default:
		return leanSuccess, true
	}
}}

// ServePlainly answers calls with encoding/json.
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
		switch {
		case r.ID == nil:
			continue
		case r.Method != "tools/call":
			err = Server.Serve(bytes.NewReader(line), out)
		case r.Params.Name == Fail:
			err = answers.Encode(response{"2.0", r.ID, json.RawMessage(failure)})
		default:
			err = answers.Encode(response{"2.0", r.ID, json.RawMessage(success)})
		}
		if err != nil {
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

func tool(name string) string {
	return `{"name":"` + name + `","description":"for measuring","inputSchema":{"type":"object","properties":` +
		`{"path":{"type":"string"},"limit":{"type":"integer"}},"required":["path"]}}`
}

var success = `{"content":[{"type":"text","text":"` + strings.Repeat("all work and no play ", 1024/21) + `"}]}`

const failure = `{"content":[{"type":"text","text":"no such file: notes/today.md"}],"isError":true}`

var leanSuccess = `"result":` + success

const leanFailure = `"result":` + failure
