package contract

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/candor-mcp/candor/internal/wireflaw"
	"github.com/candor-mcp/candor/wire"
)

// ParseExchange reads one recorded line: a JSON-RPC response, or {"request": …, "response": …, "tool": …}. The optional
// tool is the called tool as its server lists it; only its inputSchema is used. A null response means that no answer
// came. A response that is a string is the message as it was captured, which may be cut short. The bytes must not
// change while the exchange is in use. ParseExchange returns an error for a line that is not JSON.
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

// setRequest sets the call from an object, or from a string that holds the sent text.
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

// asMessage reports whether a flaw still lets the line be read as a message; it is then a flaw of the message.
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

// cutTail is the maximum distance of a flaw from the end of a captured text for which the recorder is blamed. It allows
// for a mark that says how much was omitted.
const cutTail = 64

// cutShort reports whether a captured message ends in the middle of a result, because the recorder stopped.
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
