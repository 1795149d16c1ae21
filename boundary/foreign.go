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

// A handler may return values whose methods do not return: an error whose Error method sleeps, a result whose MarshalJSON ends its
// goroutine. Code that calls such foreign methods runs on a separate goroutine with a time limit. Most errors and results have known
// types and are handled without one.

// foreignTime returns the time limit for the foreign methods of one call.
func (b *Boundary) foreignTime() time.Duration {
	if b.o.foreignLimit > 0 {
		return b.o.foreignLimit
	}
	return usercode.LimitFor(b.o.Timeout)
}

// foreign runs f, which may call foreign methods, on a separate goroutine and with a time limit.
func foreign[T any](b *Boundary, f func() (T, error)) (T, error) {
	var value T
	failed, err := usercode.Call(b.foreignTime(), func() error {
		v, err := f()
		if err != nil {
			return errors.New(err.Error()) // the error may have foreign methods, too
		}
		value = v
		return nil
	})
	if err != nil {
		var none T // f may still be running and set value
		return none, err
	}
	return value, failed
}

// claim decides between a goroutine that runs foreign methods and the caller that waits for it: the one that takes the claim first
// records the failure. A nil claim can always be taken.
type claim struct{ taken atomic.Bool }

func (c *claim) take() bool { return c == nil || c.taken.CompareAndSwap(false, true) }

// bounded calls handle, which may run foreign methods and takes the claim before it records anything, on a separate goroutine. If
// handle panics, or does not take the claim in time, bounded returns the reply of lost.
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
		return <-done // handle is recording the failure, which has its own limits
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

// ask runs f, which may call foreign methods, with a time limit.
func (b *Boundary) ask(f func() *candor.Error) *candor.Error {
	e, err := usercode.Call(b.foreignTime(), f)
	if err != nil {
		return usercode.AsError(err)
	}
	return e
}

// trustedOutcome reports whether no value in a failed outcome has foreign methods.
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

// trustedResult reports whether no value in a result has foreign methods.
func trustedResult(r *mcp.CallToolResult) bool {
	return plainContent(r.Content) && plainMeta(r.Meta) && plain(r.StructuredContent, 0) && r.InputRequests == nil && usercode.Trusted(r.GetError())
}

// encodeOnce returns a copy of the result in which every foreign value is replaced by its JSON, so that its methods are not called
// again. It runs foreign methods.
func encodeOnce(r *mcp.CallToolResult) (*mcp.CallToolResult, error) {
	out := *r
	out.Content = make([]mcp.Content, len(r.Content))
	for i, block := range r.Content {
		if block == nil { // it would be encoded as null
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

// rawBlock is a content block of an unknown type, with its JSON.
type rawBlock struct {
	mcp.Content
	raw json.RawMessage
}

// MarshalJSON returns the JSON of the block.
func (b rawBlock) MarshalJSON() ([]byte, error) { return b.raw, nil }

// The values that a handler returns may panic when they are used: the Error method of a nil pointer that was returned as an error, a
// MarshalJSON, an As. This foreign code runs after the handler has returned, but its panic is a failure of the handler. A method that
// panicked is not called again.

func (b *Boundary) panickedError(v any) *candor.Error {
	return b.ask(func() *candor.Error {
		return candor.New(candor.CodeInternalError, "", candor.WithOrigin(candor.PartyServer, false),
			candor.WithCauseText(candor.NewCause(fmt.Sprint(v), "", "panic")))
	})
}

// answerPanicked returns the answer to a call of any method except tools/call, when a value of its handler panicked.
func (g *guard) answerPanicked(ctx context.Context, method string, req mcp.Request, v any) (mcp.Result, error) {
	x := g.exchangeOf(method, req)
	out := g.protocolError(ctx, g.b.panickedError(v), &x, rpcError{}, isNotification(method))
	g.noteRecorded(req, &out)
	return out.result, out.err
}

// answerPanickedTool is answerPanicked for tools/call. Name is the tool that was called, because the handler may have changed its request.
func (g *guard) answerPanickedTool(ctx context.Context, name string, req *mcp.CallToolRequest, v any) (mcp.Result, error) {
	asked := mcp.CallToolRequest{Session: req.Session, Extra: req.Extra, Params: &mcp.CallToolParamsRaw{Name: name}}
	if req.Params != nil {
		asked.Params.Meta, asked.Params.Arguments = req.Params.Meta, req.Params.Arguments
	}
	out := toolCall{g: g, req: &asked}.fail(ctx, g.b.panickedError(v), nil)
	g.noteRecorded(&asked, &out)
	return out.result, out.err
}

// errorReturns reports whether err.Error returns without a panic.
func errorReturns(err error) (yes bool) {
	defer func() {
		if recover() != nil {
			yes = false
		}
	}()
	_ = err.Error()
	return true
}
