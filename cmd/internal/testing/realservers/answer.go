package realservers

import (
	"encoding/json"
	"errors"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/wire"
)

// Answer is the answer to one request.
type Answer struct {
	raw     []byte
	message wire.Message
}

// Failed reports whether the answer is an error or a result with isError.
func (a Answer) Failed() bool {
	if a.message.Kind() == wire.KindError {
		return true
	}
	marked, ok := a.message.ResultMember("isError")
	yes, isBool := marked.Bool()
	return ok && isBool && yes
}

// Text returns the text that a reader sees first: the message of an error, the first text of a result, or else the
// whole result.
func (a Answer) Text() string {
	if text, ok := a.message.Error().Path("message").Str(); ok {
		return text
	}
	if text, ok := a.message.Result().Path("content", 0, "text").Str(); ok {
		return text
	}
	return string(a.message.Result().Raw())
}

// Envelope returns the canonical error in the answer.
func (a Answer) Envelope() (*candor.Error, error) {
	v, ok := dialect.Embedded(a.message.Value())
	if !ok {
		return nil, errors.New("no envelope")
	}
	return dialect.ReadCandor(v)
}

// bareURI reports whether the answer is an error whose data is only the URI that was not found. Clients recognize it by
// that exact shape, so the gateway does not change it.
func (a Answer) bareURI() bool {
	data := a.message.Error().Path("data")
	_, ok := data.Get("uri")
	return ok && data.Len() == 1
}

// words decodes the server's part of a failure: the blocks of a result without the readable block that the gateway
// prepends, or the code and message of an error.
func (a Answer) words(annotated bool) (any, error) {
	var said struct {
		Result struct{ Content []any }
		Error  *struct {
			Code    json.Number
			Message string
		}
	}
	if err := json.Unmarshal(a.raw, &said); err != nil {
		return nil, err
	}
	if said.Error != nil {
		return []any{said.Error.Code.String(), said.Error.Message}, nil
	}
	if annotated && len(said.Result.Content) > 0 {
		return said.Result.Content[1:], nil
	}
	return said.Result.Content, nil
}
