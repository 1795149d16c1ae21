package config

import (
	"encoding/json"
	"maps"
)

// Schema returns the JSON Schema of the file, for editors. It is generated from the same table as the reader, but cannot express
// everything the reader checks.
func Schema() []byte {
	s := schemaOf("candor.yaml", "What a Candor gateway fronts, and how.", (&draft{}).keys())
	return write(s)
}

// ProfileSchema returns the JSON Schema of a profile.
func ProfileSchema() []byte {
	p, o := newProfile()
	return write(schemaOf("A profile", "What is known about one MCP server beforehand.", profileKeys(p, o)))
}

func schemaOf(title, about string, keys []key) map[string]any {
	s := objectSchema(keys)
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["title"], s["description"] = title, about
	return s
}

func write(schema map[string]any) []byte {
	out, _ := json.MarshalIndent(schema, "", "  ") // cannot fail, because it consists of literals
	return append(out, '\n')
}

func objectSchema(keys []key) map[string]any {
	properties, needed := map[string]any{}, []string{}
	for _, k := range keys {
		s := maps.Clone(k.value.schema)
		s["description"] = k.about
		properties[k.name] = s
		if k.needed {
			needed = append(needed, k.name)
		}
	}
	out := map[string]any{"type": "object", "additionalProperties": false, "properties": properties}
	if len(needed) > 0 {
		out["required"] = needed
	}
	return out
}
