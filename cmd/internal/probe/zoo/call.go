package zoo

import (
	"context"
	"fmt"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/splice"
	"github.com/candor-mcp/candor/wire"
)

// when is how a call would honestly end.
type when uint8

const (
	whenInput   when = 1 << iota // the arguments are wrong
	whenMissing                  // the arguments are sound, and what was asked for is not there
	whenSound                    // it works

	whenFailing = whenInput | whenMissing
	whenAsked   = whenMissing | whenSound // the arguments are sound
)

// call is one request and what there is to know for its answer.
type call struct {
	zoo     *zoo
	session *session
	ctx     context.Context //nolint:containedctx // a call lives no longer than the request that it belongs to
	message wire.Message
	modern  bool // of protocol version 2026-07-28

	// Of tools/call only.
	tool      *tool
	arguments wire.Value
	state     when
	err       *candor.Error // what an honest tool would say; nil if it works
	found     string        // what it would return then, as JSON
	reply     upstreamReply // of a tool that asks the upstream
}

// answer is what goes back.
type answer struct {
	frames [][]byte // written in this order; not all of them need to be messages
	// hold waits before they are written; false means that they never are. nil does not wait.
	hold       func(context.Context, *call) bool
	dies       bool   // the server ends, and nothing is written
	status     int    // of HTTP, 0 for what goes with the frames
	retryAfter string // a header of HTTP
}

func one(frame []byte) answer { return answer{frames: [][]byte{frame}} }

// honest is the answer that a good server gives.
func (c *call) honest() answer {
	if c.err != nil {
		return one(c.candid(c.err))
	}
	return one(c.success(c.found))
}

// ref is the correlation id, the same in every run.
func (c *call) ref() string { return fmt.Sprintf("zoo-%d", c.session.next("ref")) }

// candid is a failed tool call as Candor writes it.
func (c *call) candid(e *candor.Error) []byte {
	return dialect.Must("candor").Write(nil, e.With(candor.WithRef(c.ref())), dialect.Options{ID: c.message.ID(), Response: true,
		Complete: c.modern, NoOutputSchema: c.tool.output == ""})
}

// refuse is a JSON-RPC error as Candor writes it.
func (c *call) refuse(e *candor.Error) []byte {
	return dialect.Must("rpc").Write(nil, e.With(candor.WithRef(c.ref())), dialect.Options{ID: c.message.ID(), Response: true})
}

// success is a result with a text, and with its JSON where the tool has promised that.
func (c *call) success(text string) []byte {
	if c.tool != nil && c.tool.output != "" && text == c.found {
		return c.result(`{"content":[` + block(text) + `],"structuredContent":` + text + `}`)
	}
	return c.result(`{"content":[` + block(text) + `]}`)
}

// failure is a result that says isError, with a text.
func (c *call) failure(text string) []byte {
	return c.result(`{"content":[` + block(text) + `],"isError":true}`)
}

// result is a response with any result.
func (c *call) result(raw string) []byte {
	frame := []byte(`{"jsonrpc":"2.0","id":` + string(c.message.ID()) + `,"result":` + raw + `}`)
	if !c.modern {
		return frame
	}
	return edited(frame, `"complete"`, "result", "resultType")
}

// rpcError is a response with any error. Members are the JSON of its members beside message.
func (c *call) rpcError(message, members string) []byte {
	return []byte(`{"jsonrpc":"2.0","id":` + string(c.message.ID()) + `,"error":{"message":` + quote(message) + `,` + members + `}}`)
}

// block is a content block of text.
func block(text string) string { return `{"type":"text","text":` + quote(text) + `}` }

func quote(text string) string { return string(wire.AppendString(nil, text)) }

// edited is a frame with one member set. A path that leads nowhere leaves it as it is.
func edited(frame []byte, value string, path ...string) []byte {
	out, err := splice.SetMember(nil, frame, path, []byte(value))
	if err != nil {
		return frame
	}
	return out
}

// without is a frame less one member.
func without(frame []byte, path ...string) []byte {
	out, err := splice.RemoveMember(nil, frame, path)
	if err != nil {
		return frame
	}
	return out
}

// retold is a result whose first text was changed.
func retold(frame []byte, change func(string) string) []byte {
	m := wire.Parse(frame, wire.Limits{})
	text, _ := m.Result().Path("content", 0, "text").Str()
	return edited(frame, quote(change(text)), "result", "content", "0", "text")
}
