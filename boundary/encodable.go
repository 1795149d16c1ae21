package boundary

import (
	"encoding/json"
	"errors"
	"math"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/wire"
)

// The SDK encodes a result after the last middleware has returned it. If that fails, the SDK sends nothing and the caller waits
// forever. Therefore the boundary checks every result first. Encoding each result twice would double the cost of a success, so
// results of known types are recognised as encodable without encoding them.

func notEncodable(err error) *candor.Error {
	return candor.New(candor.CodeResultNotEncodable, "", candor.WithOrigin(candor.PartyTool, false), candor.WithCause(err))
}

// encodableResult returns a tool result that can be encoded, or the reason why it cannot. It returns r itself if all values in it are
// plain.
func (b *Boundary) encodableResult(r *mcp.CallToolResult) (*mcp.CallToolResult, error) {
	if plainMeta(r.Meta) && plainContent(r.Content) && plain(r.StructuredContent, 0) && r.InputRequests == nil {
		return r, nil
	}
	return b.encodeForeign(r)
}

// encodeForeign is a separate function so that a successful call does not allocate the closure.
func (b *Boundary) encodeForeign(r *mcp.CallToolResult) (*mcp.CallToolResult, error) {
	return foreign(b, func() (*mcp.CallToolResult, error) { return encodeOnce(r) })
}

// encodable returns the reason why the result of a method other than tools/call cannot be encoded, or nil.
func (b *Boundary) encodable(method string, r mcp.Result) error {
	if isPlainResult(method, r) {
		return nil
	}
	_, err := foreign(b, func() (struct{}, error) { return struct{}{}, tryEncode(r) })
	return err
}

// isPlainResult reports whether the result of a method other than tools/call can certainly be encoded.
func isPlainResult(method string, r mcp.Result) bool {
	switch r := r.(type) {
	case *statsResult:
		return true
	case *mcp.CompleteResult:
		return plainMeta(r.Meta)
	case *mcp.GetPromptResult:
		for _, m := range r.Messages {
			if m == nil || !plainContent([]mcp.Content{m.Content}) {
				return false
			}
		}
		return plainMeta(r.Meta)
	case *mcp.ReadResourceResult:
		for _, c := range r.Contents {
			if c == nil || !plainMeta(c.Meta) {
				return false
			}
		}
		return plainMeta(r.Meta)
	default:
		return method == "ping"
	}
}

// tryEncode encodes v and returns only the error. It runs foreign methods.
func tryEncode(v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if string(raw) == "null" {
		return errors.New("the result is null")
	}
	return validText(raw)
}

// validText returns an error for JSON that is not UTF-8. The encoder checks only the syntax of a json.RawMessage.
func validText(raw []byte) error {
	if !utf8.Valid(raw) {
		return errors.New("the result is not UTF-8")
	}
	return nil
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

// plain reports whether a value can certainly be encoded.
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

// quickSize returns the total size of the content blocks of a result, and of structured content that is already encoded.
func quickSize(r *mcp.CallToolResult) int {
	n := 0
	for _, block := range r.Content {
		n += blockSize(block)
	}
	if raw, ok := r.StructuredContent.(json.RawMessage); ok {
		n += len(raw)
	}
	return n
}

// blockSize returns the number of bytes of text or data in a content block.
func blockSize(block mcp.Content) int {
	switch b := block.(type) {
	case *mcp.TextContent:
		if b != nil {
			return len(b.Text)
		}
	case *mcp.ImageContent:
		if b != nil {
			return len(b.Data)
		}
	case *mcp.AudioContent:
		if b != nil {
			return len(b.Data)
		}
	case *mcp.EmbeddedResource:
		if b != nil && b.Resource != nil {
			return len(b.Resource.Text) + len(b.Resource.Blob)
		}
	}
	return 0
}
