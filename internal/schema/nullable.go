package schema

import "slices"

// openNullable converts OpenAPI's nullable to JSON Schema. Servers that are generated from an OpenAPI description list it unchanged
// and accept null, which the type alone would reject.
func openNullable(doc any) {
	switch doc := doc.(type) {
	case map[string]any:
		for keyword, v := range doc {
			switch named, ok := v.(map[string]any); {
			case slices.Contains(valueKeywords, keyword):
			case ok && slices.Contains(nameKeywords, keyword):
				for _, schema := range named {
					openNullable(schema)
				}
			default:
				openNullable(v)
			}
		}
		if yes, ok := doc["nullable"].(bool); ok && yes {
			admitNull(doc)
		}
	case []any:
		for _, v := range doc {
			openNullable(v)
		}
	}
}

// admitNull makes a schema an alternative to null. Definitions stay where references look for them.
func admitNull(schema map[string]any) {
	inner := map[string]any{}
	for keyword, v := range schema {
		if !slices.Contains(keptKeywords, keyword) {
			inner[keyword] = v
			delete(schema, keyword)
		}
	}
	delete(inner, "nullable")
	schema["anyOf"] = []any{inner, map[string]any{"type": "null"}}
}

var (
	// valueKeywords hold a value and not a schema.
	valueKeywords = []string{"default", "const", "enum", "example", "examples"}
	// nameKeywords hold schemas under names that the author chose.
	nameKeywords = []string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"}
	keptKeywords = []string{"$schema", "$id", "$defs", "definitions", "title", "description", "default"}
)
