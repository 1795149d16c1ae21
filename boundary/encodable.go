package boundary

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/wire"
)

// The SDK encodes a result after the last middleware has seen it, and if that fails it sends nothing at all: the caller waits
// for ever. So every result is looked at before. Encoding it twice would double the price of a success; most results are plain
// enough to see that they can be encoded.

func notEncodable(err error) *candor.Error {
	return candor.New(candor.CodeResultNotEncodable, "", candor.WithOrigin(candor.PartyTool, false), candor.WithCause(err))
}

// encodableResult returns why the result of a tool cannot be written, or nil.
func encodableResult(r *mcp.CallToolResult) error {
	if plainMeta(r.Meta) && plainContent(r.Content) && plain(r.StructuredContent, 0) && r.InputRequests == nil {
		return nil
	}
	for _, block := range r.Content {
		if block == nil { // it would leave as null
			return errors.New("a block of the content is nil")
		}
	}
	return tryEncode(r)
}

// encodable returns why the result of any other method cannot be written, or nil.
func encodable(method string, r mcp.Result) error {
	switch r := r.(type) {
	case *statsResult:
		return nil
	case *mcp.CompleteResult:
		return plainOrTry(r.Meta, r)
	case *mcp.GetPromptResult:
		for _, m := range r.Messages {
			if m == nil || !plainContent([]mcp.Content{m.Content}) {
				return tryEncode(r)
			}
		}
		return plainOrTry(r.Meta, r)
	case *mcp.ReadResourceResult:
		for _, c := range r.Contents {
			if c == nil || !plainMeta(c.Meta) {
				return tryEncode(r)
			}
		}
		return plainOrTry(r.Meta, r)
	default:
		if method == "ping" {
			return nil
		}
		return tryEncode(r)
	}
}

func plainOrTry(meta mcp.Meta, r mcp.Result) error {
	if plainMeta(meta) {
		return nil
	}
	return tryEncode(r)
}

// tryEncode encodes for nothing but the error. A marshaller may panic, too.
func tryEncode(v any) (err error) {
	defer func() {
		if thrown := recover(); thrown != nil {
			err = fmt.Errorf("encoding the result panicked: %v", thrown)
		}
	}()
	raw, err := json.Marshal(v)
	if err == nil && string(raw) == "null" {
		return errors.New("the result is null")
	}
	if err == nil && !utf8.Valid(raw) { // of a json.RawMessage the encoder looks at the syntax only
		return errors.New("the result is not UTF-8")
	}
	return err
}

func plainMeta(m mcp.Meta) bool {
	for _, v := range m {
		if !plain(v, 0) {
			return false
		}
	}
	return true
}

func plainContent(blocks []mcp.Content) bool {
	for _, block := range blocks {
		switch b := block.(type) {
		case *mcp.TextContent:
			if b == nil || !plainMeta(b.Meta) || b.Annotations != nil {
				return false
			}
		case *mcp.ImageContent:
			if b == nil || !plainMeta(b.Meta) || b.Annotations != nil {
				return false
			}
		default:
			return false
		}
	}
	return true
}

const maxPlainDepth = 64

// plain reports that a value can certainly be encoded.
func plain(v any, depth int) bool {
	if depth > maxPlainDepth {
		return false
	}
	switch v := v.(type) {
	case nil, bool, string, int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64, []string, map[string]string:
		return true
	case float64:
		return !math.IsNaN(v) && !math.IsInf(v, 0)
	case json.RawMessage:
		return wire.Valid(v, wire.Limits{})
	case map[string]any:
		for _, inner := range v {
			if !plain(inner, depth+1) {
				return false
			}
		}
		return true
	case []any:
		for _, inner := range v {
			if !plain(inner, depth+1) {
				return false
			}
		}
		return true
	default:
		return false
	}
}
