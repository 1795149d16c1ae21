package boundary

import (
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

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
