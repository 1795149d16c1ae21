package schema

import "slices"

// openNullable writes OpenAPI's nullable as JSON Schema says it: a type may be null as well. Servers that are made from an OpenAPI
// description list it as it stands there and take null, which the bare type would have us refuse.
func openNullable(doc any) {
	switch doc := doc.(type) {
	case map[string]any:
		if yes, ok := doc["nullable"].(bool); ok && yes {
			admitNull(doc)
		}
		for name, v := range doc {
			if !isValue(name) {
				openNullable(v)
			}
		}
	case []any:
		for _, v := range doc {
			openNullable(v)
		}
	}
}

func admitNull(schema map[string]any) {
	kind, ok := schema["type"].(string)
	if !ok || kind == "null" {
		return
	}
	schema["type"] = []any{kind, "null"}
	if values, ok := schema["enum"].([]any); ok && !slices.Contains(values, nil) {
		schema["enum"] = append(slices.Clip(values), nil)
	}
}

// isValue reports a keyword under which there is no schema, but a value.
func isValue(keyword string) bool {
	switch keyword {
	case "default", "const", "enum", "example", "examples":
		return true
	default:
		return false
	}
}
