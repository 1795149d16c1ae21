package cases

import (
	"encoding/json"
	"strings"

	"github.com/candor-mcp/candor/wire"
)

// sample returns an ordinary value for a property: an example of the schema if it has one, or else one that fits its name.
func sample(name string, v wire.Value, depth int) json.RawMessage {
	if fixed := fixedValue(v, "const", "default", "example", "examples"); fixed != nil {
		return fixed
	}
	switch kindOf(v) {
	case "string":
		return sampleText(name, v)
	case "array":
		items, ok := v.Get("items")
		if !ok || depth >= maxDepth {
			return json.RawMessage("[]")
		}
		return json.RawMessage("[" + string(sample(name, items, depth+1)) + "]")
	case "object":
		if depth >= maxDepth {
			return json.RawMessage("{}")
		}
		return members(shapeOf(v.Raw()).required(), func(p property) json.RawMessage { return sample(p.name, p.schema, depth+1) })
	case "integer", "number":
		return number("", v)
	default:
		return validFor(name, v, depth)
	}
}

// samples are values that exist on most systems, by a word in the name of the argument. The first match is used.
var samples = []struct{ word, text string }{
	{"email", "user@example.com"}, {"url", "https://example.com/"}, {"uri", "https://example.com/"}, {"host", "example.com"}, {"domain", "example.com"},
	{"path", "."}, {"file", "."}, {"dir", "."}, {"folder", "."}, {"sql", "SELECT 1"}, {"query", "test"},
}

func sampleText(name string, v wire.Value) json.RawMessage {
	format, _ := v.Path("format").Str()
	if format != "" || byWord(name) != "" && !strings.Contains(byWord(name), "zz") {
		return text(name, v)
	}
	said := "hello"
	for _, s := range samples {
		if strings.Contains(strings.ToLower(name), s.word) {
			said = s.text
			break
		}
	}
	out, _ := json.Marshal(said) // a text can be encoded
	return out
}
