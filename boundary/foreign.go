package boundary

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/usercode"
)

// A handler may leave values behind whose methods never return: an error whose Error sleeps, a result whose MarshalJSON ends its
// goroutine. Whatever calls such methods runs on a goroutine that can be given up. Errors and results of known types, which is most of
// them, are handled without one.

// foreignTime returns how long foreign methods of one call may take.
func (b *Boundary) foreignTime() time.Duration {
	if b.o.foreignLimit > 0 {
		return b.o.foreignLimit
	}
	return usercode.LimitFor(b.o.Timeout)
}

// claim decides between a goroutine that runs foreign methods and the caller that waits for it: the failure is recorded by the first
// of them that takes the claim. A nil claim is free.
type claim struct{ taken atomic.Bool }

func (c *claim) take() bool { return c == nil || c.taken.CompareAndSwap(false, true) }

// bounded calls handle, which may run foreign methods and takes the claim before it records anything, on a goroutine of its own. If it does
// not come to that, lost answers.
func (b *Boundary) bounded(handle func(*claim) reply, lost func(*candor.Error) reply) reply {
	c := new(claim)
	done := make(chan reply, 1)
	_, err := usercode.Call(b.foreignTime(), func() struct{} {
		done <- handle(c)
		return struct{}{}
	})
	if err == nil {
		return <-done
	}
	if errors.Is(err, usercode.ErrTimeout) && !c.take() {
		return <-done // it is recording what it found, which has its own limits
	}
	return lost(usercode.AsError(err))
}

// askError is [Boundary.understand] with a limit on foreign methods.
func (b *Boundary) askError(err error, by candor.Party) *candor.Error {
	ask := func() *candor.Error {
		if !usercode.Finite(err) {
			return candor.From(err, candor.WithOrigin(by, false))
		}
		return b.understand(err, by)
	}
	if usercode.Trusted(err) {
		return ask()
	}
	return b.ask(ask)
}

// askThrown is [thrownError] with a limit on foreign methods.
func (b *Boundary) askThrown(out outcome) *candor.Error {
	if trustedOutcome(out) {
		return thrownError(out)
	}
	return withFound(b.ask(func() *candor.Error { return thrownError(out) }), out.stack)
}

// ask runs f, which calls foreign methods.
func (b *Boundary) ask(f func() *candor.Error) *candor.Error {
	e, err := usercode.Call(b.foreignTime(), f)
	if err != nil {
		return usercode.AsError(err)
	}
	return e
}

// trustedOutcome reports that nothing in a failed outcome has foreign methods.
func trustedOutcome(out outcome) bool {
	switch thrown := out.thrown.(type) {
	case nil:
		return usercode.Trusted(out.err)
	case string:
		return true
	case error:
		return usercode.Trusted(thrown)
	default:
		return false
	}
}

// trustedResult reports that nothing in a result has foreign methods.
func trustedResult(r *mcp.CallToolResult) bool {
	return plainContent(r.Content) && plainMeta(r.Meta) && plain(r.StructuredContent, 0) && r.InputRequests == nil && usercode.Trusted(r.GetError())
}

// encodeOnce returns the result with every foreign value replaced by its JSON, so that its methods are not called again. It is r itself if
// there is none. It runs foreign methods.
func encodeOnce(r *mcp.CallToolResult) (*mcp.CallToolResult, error) {
	out := *r
	out.Content = make([]mcp.Content, len(r.Content))
	for i, block := range r.Content {
		if block == nil { // it would leave as null
			return nil, errors.New("a block of the content is nil")
		}
		if plainContent(r.Content[i : i+1]) {
			out.Content[i] = block
			continue
		}
		raw, err := encodeValue(block)
		if err != nil {
			return nil, err
		}
		if len(raw) == 0 || raw[0] != '{' {
			return nil, errors.New("a block of the content is not an object")
		}
		out.Content[i] = rawBlock{Content: block, raw: raw}
	}
	if r.Content == nil {
		out.Content = nil
	}
	out.Meta = maps.Clone(r.Meta)
	for key, value := range out.Meta {
		if plain(value, 0) {
			continue
		}
		raw, err := encodeValue(value)
		if err != nil {
			return nil, err
		}
		out.Meta[key] = raw
	}
	if !plain(r.StructuredContent, 0) {
		raw, err := encodeValue(r.StructuredContent)
		if err != nil {
			return nil, err
		}
		out.StructuredContent = raw
	}
	if r.InputRequests != nil {
		return &out, tryEncode(&out)
	}
	return &out, nil
}

// encodeValue encodes a value as the SDK does.
func encodeValue(v any) (json.RawMessage, error) {
	var buf bytes.Buffer
	encoder := json.NewEncoder(&buf)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	raw := bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
	return raw, validText(raw)
}

// rawBlock is a block of a type that only the server knows, with its JSON.
type rawBlock struct {
	mcp.Content
	raw json.RawMessage
}

// MarshalJSON returns the JSON of the block.
func (b rawBlock) MarshalJSON() ([]byte, error) { return b.raw, nil }

// What a handler leaves behind may panic only when it is looked at: the Error method of a nil pointer that was returned as an
// error, a MarshalJSON, an As. That is foreign code that runs after the handler has returned, and it is the handler's failure all
// the same. What panicked is not asked a second time.

func (b *Boundary) stumble(v any) *candor.Error {
	return b.ask(func() *candor.Error {
		return candor.New(candor.CodeInternalError, "", candor.WithOrigin(candor.PartyServer, false),
			candor.WithCauseText(candor.NewCause(fmt.Sprint(v), "", "panic")))
	})
}

// stumbled answers for any method but tools/call.
func (g *guard) stumbled(ctx context.Context, method string, req mcp.Request, v any) (mcp.Result, error) {
	x := g.exchangeOf(method, req)
	out := g.protocolError(ctx, g.b.stumble(v), &x, rpcError{}, isNotification(method))
	g.noteRecorded(req, &out)
	return out.result, out.err
}

// stumbledTool answers for the tool that was called, whatever the handler made of its request.
func (g *guard) stumbledTool(ctx context.Context, name string, req *mcp.CallToolRequest, v any) (mcp.Result, error) {
	asked := mcp.CallToolRequest{Session: req.Session, Extra: req.Extra, Params: &mcp.CallToolParamsRaw{Name: name}}
	if req.Params != nil {
		asked.Params.Meta, asked.Params.Arguments = req.Params.Meta, req.Params.Arguments
	}
	out := toolCall{g: g, req: &asked}.fail(ctx, g.b.stumble(v), nil)
	g.noteRecorded(&asked, &out)
	return out.result, out.err
}

// speaks reports that an error can say what it is.
func speaks(err error) (yes bool) {
	defer func() {
		if recover() != nil {
			yes = false
		}
	}()
	_ = err.Error()
	return true
}
