package schema

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/wire"
)

// Bounds of a schema. A tool's schema has a few kilobytes; the largest seen in the wild has less than a hundred.
const (
	maxSchemaBytes = 1 << 20
	maxSchemaDepth = 64
)

// address is where the schema stands for the compiler, which needs one to resolve references. Nothing is there.
const address = "candor:/schema"

// Schema is one compiled JSON Schema. It is immutable and safe for concurrent use.
type Schema struct {
	doc  any // as decoded, for the pieces that are shown
	root *jsonschema.Schema
}

// Compile reads a JSON Schema. Without $schema it is read as draft 2020-12, as MCP says; a declared draft is honoured. No
// reference is ever loaded: a schema that needs one is refused, as is one that is too large or too deep. raw is not kept.
func Compile(raw []byte) (*Schema, error) {
	if len(raw) > maxSchemaBytes {
		return nil, fmt.Errorf("reading schema: %d bytes are more than %d", len(raw), maxSchemaBytes)
	}
	if _, err := wire.ParseValue(raw, wire.Limits{MaxDepth: maxSchemaDepth}); err != nil {
		return nil, fmt.Errorf("reading schema: %w", err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("reading schema: %w", err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.UseLoader(nothing{})
	if err := compiler.AddResource(address, doc); err != nil {
		return nil, fmt.Errorf("reading schema: %w", err)
	}
	root, err := compiler.Compile(address)
	if err != nil {
		return nil, fmt.Errorf("compiling schema: %w", err)
	}
	return &Schema{doc: doc, root: root}, nil
}

// nothing is a loader that has nothing.
type nothing struct{}

// Load refuses.
func (nothing) Load(string) (any, error) {
	return nil, errors.New("a schema may not refer to anything outside itself")
}

// Accepts reports whether the JSON text is certainly valid: one scan, no memory. No bytes at all count as {}. false
// means that it takes [Schema.Explain] to know, not that the text is invalid.
func (s *Schema) Accepts(value []byte) bool { return false }

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
