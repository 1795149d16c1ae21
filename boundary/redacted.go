package boundary

import (
	"bytes"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/internal/redact"
	"github.com/candor-mcp/candor/internal/redactjson"
	"github.com/candor-mcp/candor/wire"
)

// What the author of a tool wrote into a failure is kept, but not its secrets, nor the characters that hide or steer: an error is
// where those slip out. A text is redacted as a whole before anybody cuts it, because half a secret is not known any more.

// redactedBlock returns a content block whose texts are clean. Pictures and sounds pass.
func redactedBlock(block mcp.Content) mcp.Content {
	switch b := block.(type) {
	case rawBlock:
		b.raw = redactedJSON(b.raw)
		return b
	case *mcp.TextContent:
		if b == nil {
			break
		}
		if clean := redactedText(b.Text); clean != b.Text {
			out := *b
			out.Text = clean
			return &out
		}
	case *mcp.EmbeddedResource:
		if b == nil || b.Resource == nil {
			break
		}
		out, resource := *b, *b.Resource
		resource.URI, resource.Text = contract.Redact(resource.URI), redactedText(resource.Text)
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
	v, err := wire.ParseValue(raw, wire.Limits{})
	if err != nil {
		return redactedLoose(raw)
	}
	clean, changed := redactjson.Cleaner{}.Append(nil, v)
	if !changed {
		return raw
	}
	return clean
}

// redactedURI is redactedJSON for data that names a missing resource: its path is what the client has asked for, and stays.
func redactedURI(raw []byte) []byte {
	v, err := wire.ParseValue(raw, wire.Limits{})
	if err != nil {
		return redactedJSON(raw)
	}
	clean, changed := redactjson.Cleaner{Policy: redact.Policy{KeepPaths: true}}.Append(nil, v)
	if !changed {
		return raw
	}
	return clean
}

// redactedLoose is redactedJSON for JSON that wire refuses, such as an object with two members of one name: the last of them
// counts, as it does for encoding/json.
func redactedLoose(raw []byte) []byte {
	var decoded any
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if decoder.Decode(&decoded) != nil {
		return raw // the reader of it will find the same
	}
	again, err := json.Marshal(decoded)
	if err != nil {
		return raw
	}
	v, err := wire.ParseValue(again, wire.Limits{})
	if err != nil {
		return []byte("null") // deeper or longer than any message may be
	}
	clean, _ := redactjson.Cleaner{}.Append(nil, v)
	return clean
}

// redactedText is contract.Redact for a text that may hold JSON.
func redactedText(text string) string { return redactjson.Cleaner{}.Text(text) }
