package schema

import "slices"

// openNullable writes OpenAPI's nullable as JSON Schema says it: what is described may be null as well. Servers that are made from an
// OpenAPI description list it as it stands there and take null, which the bare type would have us refuse.
func openNullable(doc any) {
	switch doc := doc.(type) {
	case map[string]any:
		if yes, ok := doc["nullable"].(bool); ok && yes {
			admitNull(doc)
		}
		for keyword, v := range doc {
			switch named, ok := v.(map[string]any); {
			case isValue(keyword):
			case ok && holdsNames(keyword):
				for _, schema := range named {
					openNullable(schema)
				}
			default:
				openNullable(v)
			}
		}
	case []any:
		for _, v := range doc {
			openNullable(v)
		}
	}
}

// admitNull opens what is said of the type, of values and of alternatives. oneOf, not, if and const stay as they are: null beside them could
// make one match too many, or none. Nothing that a reference could point into is moved.
func admitNull(schema map[string]any) {
	switch kind := schema["type"].(type) {
	case string:
		if kind != "null" {
			schema["type"] = []any{kind, "null"}
		}
	case []any:
		if !slices.Contains(kind, any("null")) {
			schema["type"] = append(slices.Clip(kind), "null")
		}
	}
	if values, ok := schema["enum"].([]any); ok && !slices.Contains(values, nil) {
		schema["enum"] = append(slices.Clip(values), nil)
	}
	if all, ok := schema["allOf"].([]any); ok {
		for _, one := range all {
			if one, ok := one.(map[string]any); ok {
				admitNull(one)
			}
		}
	}
	if either, ok := schema["anyOf"].([]any); ok && !slices.ContainsFunc(either, isNull) {
		schema["anyOf"] = append(slices.Clip(either), onlyNull())
	}
	if to, ok := schema["$ref"]; ok && refersOnly(schema) {
		delete(schema, "$ref")
		schema["anyOf"] = []any{map[string]any{"$ref": to}, onlyNull()}
	}
}

func onlyNull() map[string]any { return map[string]any{"type": "null"} }

// isNull reports a schema that was written by onlyNull, or as it would.
func isNull(schema any) bool {
	s, _ := schema.(map[string]any)
	return s["type"] == "null" && len(s) == 1
}

// refersOnly reports a schema that says nothing of a value but where that is said. Beside a reference an older draft passes over all else,
// which must not come into force because the reference is moved.
func refersOnly(schema map[string]any) bool {
	for keyword := range schema {
		switch keyword {
		case "$ref", "nullable", "title", "description", "$comment", "default", "example", "examples", "deprecated", "readOnly", "writeOnly":
		default:
			return false
		}
	}
	return true
}

// isValue reports a keyword that holds a value and not a schema.
func isValue(keyword string) bool {
	switch keyword {
	case "default", "const", "enum", "example", "examples":
		return true
	default:
		return false
	}
}

// holdsNames reports a keyword under which each name is one that the author chose, with a schema, whatever it is called.
func holdsNames(keyword string) bool {
	switch keyword {
	case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies":
		return true
	default:
		return false
	}
}
