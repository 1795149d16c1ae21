package candortest

import "github.com/candor-mcp/candor/wire"

// SchemaMisfit, SchemaWrong and SchemaExample export the kit's subset of JSON Schema to its tests.
func SchemaMisfit(schemaText, value string) string {
	v, err := wire.ParseValue([]byte(value), wire.Limits{})
	if err != nil {
		return err.Error()
	}
	return parsedSchema(schemaText).misfit(v)
}

func SchemaWrong(schemaText string) (string, bool) { return parsedSchema(schemaText).wrong() }

func SchemaExample(schemaText string) string { return parsedSchema(schemaText).example() }

func parsedSchema(text string) schema {
	v, err := wire.ParseValue([]byte(text), wire.Limits{})
	if err != nil {
		panic(err)
	}
	return readSchema(v)
}

// Shown returns raw as a finding shows it.
func Shown(raw []byte) string { return show(raw) }

// Leaks returns the leak checks that would report text.
func Leaks(text string) []string {
	var found []string
	for _, c := range []struct {
		name  string
		leaks func(string) bool
	}{
		{"stack", stackTrace.MatchString}, {"type", typeName.MatchString},
		{"path", func(s string) bool { return gains(s, "…/") }}, {"secret", func(s string) bool { return gains(s, "[redacted:") }},
	} {
		if c.leaks(text) {
			found = append(found, c.name)
		}
	}
	return found
}
