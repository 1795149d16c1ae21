package realservers

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/candor-mcp/candor/candortest"
	"github.com/candor-mcp/candor/wire"
)

// answerTime is the maximum wait for one answer. It is long because a starting server is slow.
const answerTime = 20 * time.Second

// conversation is a connection to a server that exchanges raw bytes.
type conversation struct {
	conn candortest.Conn
	last int // id of the last request
}

// converse starts the command, lists its tools, sends every case, and ends the command. The cases may depend on the
// tools.
func converse(ctx context.Context, command *exec.Cmd, cases func([]tool) []Case) (asked []Case, answers []Answer, err error) {
	conn, err := candortest.StdioFunc(func() *exec.Cmd { return command }).Open(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer conn.Close() //nolint:errcheck // whether it is gone is looked at by [Ground.Leftovers]
	c := &conversation{conn: conn}
	tools, err := c.begin(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("%w\n%s", err, conn.Diagnostics())
	}
	asked = cases(tools)
	for _, one := range asked {
		answer, err := c.ask(ctx, one.Method, one.Params)
		if err != nil {
			return nil, nil, fmt.Errorf("%s %s: %w\n%s", one.Name, one.Tool, err, conn.Diagnostics())
		}
		answers = append(answers, answer)
	}
	return asked, answers, nil
}

// begin makes the handshake and lists the tools.
func (c *conversation) begin(ctx context.Context) ([]tool, error) {
	answer, err := c.ask(ctx, "initialize", json.RawMessage(
		`{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"realservers","version":"1"}}`))
	if err != nil {
		return nil, fmt.Errorf("initialize: %w", err)
	}
	if answer.Failed() {
		return nil, fmt.Errorf("initialize: %s", answer.raw)
	}
	if err := c.conn.Send(ctx, []byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`), nil); err != nil {
		return nil, err
	}
	answer, err = c.ask(ctx, "tools/list", json.RawMessage(`{}`))
	if err != nil {
		return nil, fmt.Errorf("tools/list: %w", err)
	}
	var listed struct{ Result struct{ Tools []tool } }
	if err := json.Unmarshal(answer.raw, &listed); err != nil {
		return nil, fmt.Errorf("tools/list: %w", err)
	}
	return listed.Result.Tools, nil
}

// ask sends a request and returns its answer. Meanwhile it ignores notifications of the server and refuses its
// requests.
func (c *conversation) ask(ctx context.Context, method string, params json.RawMessage) (Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	c.last++
	request, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": c.last, "method": method, "params": params})
	if err != nil {
		return Answer{}, err
	}
	if err := c.conn.Send(ctx, request, nil); err != nil {
		return Answer{}, err
	}
	for {
		frame, err := c.conn.Receive(ctx)
		if err != nil {
			return Answer{}, err
		}
		m := wire.Parse(frame.Data, wire.Limits{})
		switch m.Kind() {
		case wire.KindResult, wire.KindError:
			if string(m.ID()) == fmt.Sprint(c.last) {
				return Answer{raw: frame.Data, message: m}, nil
			}
		case wire.KindNotification, wire.KindMalformed: // a log message, or noise
		case wire.KindRequest:
			refusal := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}`, m.ID())
			if err := c.conn.Send(ctx, refusal, nil); err != nil {
				return Answer{}, err
			}
		}
	}
}

// readAnswers reads the answers in a copy of a server's output, by id.
func readAnswers(name string) (map[string]Answer, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	said := map[string]Answer{}
	for line := range bytes.Lines(text) {
		line = bytes.TrimRight(line, "\r\n")
		if m := wire.Parse(line, wire.Limits{}); m.Kind() == wire.KindResult || m.Kind() == wire.KindError {
			said[string(m.ID())] = Answer{raw: line, message: m}
		}
	}
	return said, nil
}
