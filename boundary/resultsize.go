package boundary

import (
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// fits reports that the texts and data of a result have at most limit bytes. It stops counting where they have more.
func fits(r *mcp.CallToolResult, limit int) bool {
	left := limit
	for _, block := range r.Content {
		left -= blockSize(block)
		if left--; left < 0 {
			return false
		}
	}
	left = without(r.StructuredContent, left)
	return left >= 0
}

// quickSize returns the bytes of the content blocks of a result, and of structured content that is encoded already.
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

// blockSize returns the bytes of the text or data in a content block.
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

// without returns left without the bytes of a JSON value, or a number below 0 if they do not fit.
func without(v any, left int) int {
	if left < 0 {
		return left
	}
	switch v := v.(type) {
	case string:
		return left - len(v)
	case json.RawMessage:
		return left - len(v)
	case []any:
		for _, one := range v {
			if left = without(one, left); left < 0 {
				break
			}
		}
	case map[string]any:
		for name, one := range v {
			if left = without(one, left-len(name)); left < 0 {
				break
			}
		}
	}
	return left - 1
}
