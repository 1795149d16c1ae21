package boundary

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"slices"
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

// encodableResult returns the reason why the result of a tool cannot be encoded, or nil.
func encodableResult(r *mcp.CallToolResult) error {
	if plainMeta(r.Meta) && plainContent(r.Content) && plain(r.StructuredContent) && r.InputRequests == nil {
		return nil
	}
	for _, block := range r.Content {
		if v := reflect.ValueOf(block); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
			return errors.New("a block of the content is nil") // it would be encoded as null
		}
	}
	return tryEncode(r)
}

// encodable returns the reason why the result of a method other than tools/call cannot be encoded, or nil.
func encodable(r mcp.Result) error {
	if read, ok := r.(*mcp.ReadResourceResult); ok && plainMeta(read.Meta) && !slices.ContainsFunc(read.Contents, isForeign) {
		return nil
	}
	return tryEncode(r)
}

func isForeign(c *mcp.ResourceContents) bool { return c == nil || !plainMeta(c.Meta) }

// tryEncode encodes v and returns only the error.
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

// validText returns an error for JSON that is not UTF-8. The encoder checks only the syntax of a json.RawMessage.
func validText(raw []byte) error {
	if !utf8.Valid(raw) {
		return errors.New("the result is not UTF-8")
	}
	return nil
}

func plainMeta(m mcp.Meta) bool {
	for _, v := range m {
		if !plain(v) {
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

// plain reports whether a value can certainly be encoded.
func plain(v any) bool {
	switch v := v.(type) {
	case nil, bool, string, int, int64, uint64, []string, map[string]string:
		return true
	case float64:
		return !math.IsNaN(v) && !math.IsInf(v, 0)
	case json.RawMessage:
		_, err := wire.ParseValue(v, wire.Limits{})
		return err == nil
	default:
		return false
	}
}

// resultSize returns the number of bytes of text and data in a result, without structured content that is not encoded.
func resultSize(r *mcp.CallToolResult) int {
	n := 0
	for _, block := range r.Content {
		switch b := block.(type) {
		case *mcp.TextContent:
			n += len(b.Text)
		case *mcp.ImageContent:
			n += len(b.Data)
		case *mcp.AudioContent:
			n += len(b.Data)
		case *mcp.EmbeddedResource:
			if b.Resource != nil {
				n += len(b.Resource.Text) + len(b.Resource.Blob)
			}
		}
	}
	if raw, ok := r.StructuredContent.(json.RawMessage); ok {
		n += len(raw)
	}
	return n
}
