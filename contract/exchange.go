package contract

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/candor-mcp/candor/internal/wireflaw"
	"github.com/candor-mcp/candor/wire"
)

// ParseExchange reads one recorded line: a JSON-RPC response, or {"request": …, "response": …, "tool": …}. The tool is the called one as
// its server lists it, and may be left out; only its inputSchema is used. A null response stands for no answer; a response that is a text is the message as it was captured, which may have been cut short. The bytes must not
// change while the exchange is in use. What is no JSON at all is refused.
func ParseExchange(line []byte) (*Exchange, error) {
	line = bytes.TrimSpace(line)
	v, err := wire.ParseValue(line, wire.Limits{AllowLoneSurrogates: true})
	if err != nil && !asMessage(err) {
		return nil, err
	}
	answer, recorded := v.Get("response")
	if !recorded {
		return &Exchange{Response: wire.Parse(line, wire.Limits{})}, nil
	}
	x := &Exchange{}
	if asked, ok := v.Get("request"); ok && !asked.IsNull() {
		if err := x.setRequest(asked); err != nil {
			return nil, err
		}
	}
	x.InputSchema = v.Path("tool", "inputSchema")
	return x, x.setAnswer(answer)
}

// setRequest takes the call as an object, or as the text that was sent.
func (x *Exchange) setRequest(asked wire.Value) error {
	raw := asked.Raw()
	if text, ok := asked.StrBytes(); ok {
		raw = text
	} else if t := asked.Type(); t != wire.TypeObject && t != wire.TypeArray {
		return fmt.Errorf("request is a %s, not a message", t)
	}
	m := wire.Parse(raw, wire.Limits{})
	x.Request = &m
	return nil
}

// asMessage reports flaws that do not keep a line from being read as a message: they are the message's own.
func asMessage(err error) bool {
	var m wire.Malformation
	if !errors.As(err, &m) {
		return false
	}
	switch m.Flaw {
	case wireflaw.NotJSON, wireflaw.Truncated, wireflaw.TrailingData, wireflaw.TooLarge:
		return false
	default:
		return true
	}
}

func (x *Exchange) setAnswer(answer wire.Value) error {
	switch answer.Type() {
	case wire.TypeNull:
		x.silent = x.Request != nil && x.Request.Kind() == wire.KindNotification
		x.Lost = !x.silent
	case wire.TypeString:
		text, _ := answer.StrBytes()
		x.Response = wire.Parse(text, wire.Limits{})
		x.captured = true
	case wire.TypeObject, wire.TypeArray:
		x.Response = wire.Parse(answer.Raw(), wire.Limits{})
	default:
		return fmt.Errorf("response is a %s, not a message", answer.Type())
	}
	return nil
}

// cutTail is how near the end of a captured text its flaw must be to be the recorder's: a mark that says how much was left out.
const cutTail = 64

// cutShort reports a captured message that ends in the middle of what looks like a result: the recorder stopped, not the peer.
func (x *Exchange) cutShort() bool {
	m := &x.Response
	if !x.captured {
		return false
	}
	flaw := m.Malformation()
	if flaw.Flaw != wireflaw.Truncated && flaw.Flaw != wireflaw.NotJSON || flaw.Offset < len(m.Bytes())-cutTail {
		return false
	}
	head := m.Bytes()[:min(len(m.Bytes()), 256)]
	return bytes.Contains(head, []byte(`"result"`)) && !bytes.Contains(m.Bytes(), []byte(`"isError":true`))
}
