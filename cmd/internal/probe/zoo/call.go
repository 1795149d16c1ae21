package zoo

import (
	"context"
	"fmt"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/jsontext"
	"github.com/candor-mcp/candor/internal/splice"
	"github.com/candor-mcp/candor/wire"
)

// when is a set of correct outcomes of a call.
type when uint8

const (
	whenInput   when = 1 << iota // the arguments are wrong
	whenMissing                  // the arguments are valid, and the record does not exist
	whenSound                    // the call succeeds

	whenFailing = whenInput | whenMissing
	whenAsked   = whenMissing | whenSound // the arguments are valid
)

// call is one request with the data for its answer.
type call struct {
	zoo     *zoo
	session *session
	ctx     context.Context //nolint:containedctx // a call lives no longer than the request that it belongs to
	message wire.Message
	modern  bool // of protocol version 2026-07-28

	// Only for tools/call.
	tool      *tool
	arguments wire.Value
	state     when
	err       *candor.Error // the correct error; nil for a success
	found     string        // the correct result as JSON
	reply     upstreamReply // for tools with an upstream
}

// answer is the reaction to a call.
type answer struct {
	frames [][]byte // written in this order; may also be lines that are not messages
	// hold waits before the frames are written; if it returns false they are not written. nil does not wait.
	hold       func(context.Context, *call) bool
	dies       bool   // the server ends without an answer
	status     int    // HTTP status, 0 for the default
	retryAfter string // HTTP header
}

func one(frame []byte) answer { return answer{frames: [][]byte{frame}} }

// honest returns the correct answer.
func (c *call) honest() answer {
	if c.err != nil {
		return one(c.candorFailure(c.err))
	}
	return one(c.success(c.found))
}

// ref returns the correlation id, which is the same in every run.
func (c *call) ref() string { return fmt.Sprintf("zoo-%d", c.session.next("ref")) }

// candorFailure returns a failed tool call as Candor writes it.
func (c *call) candorFailure(e *candor.Error) []byte {
	return dialect.Must("candor").Write(nil, e.With(candor.WithRef(c.ref())), dialect.Options{ID: c.message.ID(), Response: true,
		Complete: c.modern, NoOutputSchema: c.tool.output == ""})
}

// refuse returns a JSON-RPC error as Candor writes it.
func (c *call) refuse(e *candor.Error) []byte {
	return dialect.Must("rpc").Write(nil, e.With(candor.WithRef(c.ref())), dialect.Options{ID: c.message.ID(), Response: true})
}

// success returns a result with a text, and with structuredContent if the tool has an output schema.
func (c *call) success(text string) []byte {
	if c.tool != nil && c.tool.output != "" && text == c.found {
		return c.result(`{"content":[` + block(text) + `],"structuredContent":` + text + `}`)
	}
	return c.result(`{"content":[` + block(text) + `]}`)
}

// failure returns an isError result with a text.
func (c *call) failure(text string) []byte {
	return c.result(`{"content":[` + block(text) + `],"isError":true}`)
}

// result returns a response with the given result.
func (c *call) result(raw string) []byte {
	frame := []byte(`{"jsonrpc":"2.0","id":` + string(c.message.ID()) + `,"result":` + raw + `}`)
	if !c.modern {
		return frame
	}
	return edited(frame, `"complete"`, "result", "resultType")
}

// rpcError returns a response with an error. members is the JSON of its members besides message.
func (c *call) rpcError(message, members string) []byte {
	return []byte(`{"jsonrpc":"2.0","id":` + string(c.message.ID()) + `,"error":{"message":` + quote(message) + `,` + members + `}}`)
}

// block returns a text content block.
func block(text string) string { return `{"type":"text","text":` + quote(text) + `}` }

func quote(text string) string { return string(jsontext.AppendString(nil, text)) }

// edited returns a frame with one member set, unchanged if the path does not exist.
func edited(frame []byte, value string, path ...string) []byte {
	out, err := splice.SetMember(nil, frame, path, []byte(value))
	if err != nil {
		return frame
	}
	return out
}

// without returns a frame without one member.
func without(frame []byte, path ...string) []byte {
	out, err := splice.RemoveMember(nil, frame, path)
	if err != nil {
		return frame
	}
	return out
}

// withText returns a result with another first text.
func withText(frame []byte, change func(string) string) []byte {
	m := wire.Parse(frame, wire.Limits{})
	text, _ := m.Result().Path("content", 0, "text").Str()
	return edited(frame, quote(change(text)), "result", "content", "0", "text")
}
