package boundary

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/internal/redact"
)

// What the author of a tool wrote into a failure is kept, but not its secrets, nor the characters that hide or steer: an error is
// where those slip out. A text is redacted as a whole before anybody cuts it, because half a secret is not known any more.

// redactedResult returns a failed result whose texts are clean. The result of the author is only read.
func redactedResult(r *mcp.CallToolResult) *mcp.CallToolResult {
	out := *r
	out.Content = make([]mcp.Content, len(r.Content))
	for i, block := range r.Content {
		out.Content[i] = redactedBlock(block)
	}
	out.Meta = maps.Clone(r.Meta)
	for key, value := range out.Meta {
		out.Meta[key] = redactedValue(value)
	}
	out.StructuredContent = redactedValue(r.StructuredContent)
	return &out
}

// redactedBlock returns a content block whose texts are clean. Pictures and sounds pass.
func redactedBlock(block mcp.Content) mcp.Content {
	switch b := block.(type) {
	case *mcp.TextContent:
		if b == nil {
			break
		}
		if clean := contract.Redact(b.Text); clean != b.Text {
			out := *b
			out.Text = clean
			return &out
		}
	case *mcp.EmbeddedResource:
		if b == nil || b.Resource == nil {
			break
		}
		out, resource := *b, *b.Resource
		resource.URI, resource.Text = contract.Redact(resource.URI), contract.Redact(resource.Text)
		out.Resource = &resource
		return &out
	case *mcp.ResourceLink:
		if b == nil {
			break
		}
		out := *b
		for _, text := range []*string{&out.URI, &out.Name, &out.Title, &out.Description} {
			*text = contract.Redact(*text)
		}
		return &out
	}
	return block
}

// redactedValue returns a value as clean JSON, or itself if it is clean already. What cannot be written is dropped.
func redactedValue(v any) any {
	if v == nil {
		return nil
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	clean := redactedJSON(raw)
	if bytes.Equal(clean, raw) {
		return v
	}
	return json.RawMessage(clean)
}

// redactedJSON returns JSON whose texts and names are clean: the same bytes if they were.
func redactedJSON(raw []byte) []byte {
	if len(raw) == 0 {
		return raw
	}
	var v any
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if decoder.Decode(&v) != nil {
		return raw // whoever reads it will find the same
	}
	v, changed := redactedTree(v)
	if !changed {
		return raw
	}
	out, err := json.Marshal(v)
	if err != nil {
		return raw
	}
	return out
}

// redactedTree cleans a decoded JSON value in place and reports whether anything had to be changed.
func redactedTree(v any) (any, bool) {
	changed := false
	switch v := v.(type) {
	case string:
		clean := contract.Redact(v)
		return clean, clean != v
	case []any:
		for i, item := range v {
			clean, was := redactedTree(item)
			v[i], changed = clean, changed || was
		}
	case map[string]any:
		for _, name := range slices.Collect(maps.Keys(v)) {
			clean, was := redactedTree(v[name])
			if text, ok := clean.(string); ok && text != "" && text != redact.Placeholder && contract.SecretName(name) {
				clean, was = redact.Placeholder, true
			}
			shown := contract.Redact(name)
			if shown != name {
				delete(v, name)
			}
			v[shown], changed = clean, changed || was || shown != name
		}
	}
	return v, changed
}
