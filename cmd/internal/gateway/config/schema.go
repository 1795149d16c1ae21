package config

import (
	"encoding/json"
	"maps"
)

// Schema returns the JSON Schema of the file, for editors. It is generated from the same table as the reader, but cannot express
// everything the reader checks.
func Schema() []byte {
	return schemaOf("candor.yaml", "The configuration of a Candor gateway.", (&draft{}).keys())
}

// ProfileSchema returns the JSON Schema of a profile.
func ProfileSchema() []byte {
	p, o := newProfile()
	return schemaOf("A profile", "The rules for one MCP server.", profileKeys(p, o))
}

func schemaOf(title, about string, keys []key) []byte {
	s := objectSchema(keys)
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["title"], s["description"] = title, about
	out, _ := json.MarshalIndent(s, "", "  ") // cannot fail, because it consists of literals
	return append(out, '\n')
}

func objectSchema(keys []key) map[string]any {
	properties, needed := map[string]any{}, []string{}
	for _, k := range keys {
		s := maps.Clone(k.value.jsonSchema())
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
