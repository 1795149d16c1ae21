package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/wire"
)

// Bounds of a schema. Tools' schemas have a few kilobytes and some dozens of parts. The parts are bounded because compiling takes
// time in their square.
const (
	maxSchemaBytes = 1 << 20
	maxSchemaDepth = 64
	maxSchemaParts = 8192
)

// address is the URL under which the compiler resolves references. It is never loaded.
const address = "candor:///schema"

// Schema is one compiled JSON Schema. It is immutable and safe for concurrent use.
type Schema struct {
	doc   any // as decoded, for the pieces that are shown
	root  *jsonschema.Schema
	parts map[string]*jsonschema.Schema // by location
	quick *node

	always  []*jsonschema.Schema // the root and all that applies to the same value in every case
	useless bool

	examples sync.Map              // of the parts, by exampleKey; those that were asked for
	template func() candor.Details // a value that passes, made without a caller's value

	weight int // upper estimate of its memory in bytes
}

// weighSchema estimates the memory of a compiled schema: the decoded text, the subschemas and the programs of the patterns.
func weighSchema(raw []byte, values, parts, steps int) int {
	const perByte, perValue, perPart, perStep = 2, 64, 2 << 10, 160
	return perByte*len(raw) + perValue*values + perPart*parts + perStep*steps
}

// Compile reads a JSON Schema. Without $schema it is read as draft 2020-12, as MCP requires; a declared draft is honoured. No
// reference is ever loaded: Compile rejects a schema that needs one, that is too large or too deep, or that applies itself to
// the same value. raw is not kept.
//
// OpenAPI's nullable is honoured. A pattern that Go cannot parse, such as a lookahead, is not checked; if that could
// reject a valid value, for instance below not, the schema is rejected. $dynamicRef and $recursiveRef are rejected.
func Compile(raw []byte) (*Schema, error) {
	doc, err := readSchema(raw)
	if err != nil {
		return nil, fmt.Errorf("reading schema: %w", err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.UseLoader(denyLoader{})
	patterns := patternReader{left: maxPatterns}
	compiler.UseRegexpEngine(patterns.read)
	if err := compiler.AddResource(address, doc); err != nil {
		return nil, fmt.Errorf("compiling schema: %w", err)
	}
	root, err := compiler.Compile(address)
	if err != nil {
		return nil, fmt.Errorf("compiling schema: %w", err)
	}
	parts, err := prepare(root)
	if err != nil {
		return nil, fmt.Errorf("compiling schema: %w", err)
	}
	always := unconditional(root)
	s := &Schema{
		always: always, useless: isUseless(always),
		doc: doc, root: root, parts: parts, quick: quickener{}.node(root),
		weight: weighSchema(raw, tallyOf(doc).size, len(parts), maxPatterns-patterns.left),
	}
	s.template = sync.OnceValue(func() candor.Details { return s.templateFor(nil) })
	return s, nil
}

func readSchema(raw []byte) (any, error) {
	if len(raw) > maxSchemaBytes {
		return nil, fmt.Errorf("%d bytes, limit %d", len(raw), maxSchemaBytes)
	}
	if _, err := wire.ParseValue(raw, wire.Limits{MaxDepth: maxSchemaDepth}); err != nil {
		return nil, err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	switch all := tallyOf(doc); {
	case all.insane:
		return nil, errors.New("a number is too large")
	case all.parts > maxSchemaParts:
		return nil, fmt.Errorf("%d subschemas, limit %d", all.parts, maxSchemaParts)
	}
	openNullable(doc)
	return doc, nil
}

// denyLoader never loads a reference.
type denyLoader struct{}

// Load returns an error: references are never loaded.
func (denyLoader) Load(string) (any, error) {
	return nil, errors.New("reference to another document")
}

// isSane reports whether a number is short enough for the validator.
func isSane(n json.Number) bool {
	const most = 400 // digits; float64 ends at 1e308
	text := string(n)
	if len(text) > most {
		return false
	}
	at := strings.IndexAny(text, "eE")
	if at < 0 {
		return true
	}
	e, err := strconv.Atoi(text[at+1:])
	return err == nil && -most <= e && e <= most
}
