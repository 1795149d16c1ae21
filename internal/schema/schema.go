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

// address is where the schema stands for the compiler, which needs one to resolve references. Nothing is there.
const address = "candor:///schema"

// Schema is one compiled JSON Schema. It is immutable and safe for concurrent use.
type Schema struct {
	doc   any // as decoded, for the pieces that are shown
	root  *jsonschema.Schema
	parts map[string]*jsonschema.Schema // by location
	quick *node

	always  []*jsonschema.Schema // the root and all that applies to the same value in every case
	useless bool

	examples sync.Map              // of the parts, by *jsonschema.Schema; those that were asked for
	template func() candor.Details // a value that passes, without anything that a caller meant

	weight int // about how many bytes of memory all of it takes, rather more than less
}

// weighSchema estimates the memory of a compiled schema: the text is kept decoded, and a part and a step of a pattern have their size.
func weighSchema(raw []byte, values, parts, steps int) int {
	const perByte, perValue, perPart, perStep = 2, 64, 2 << 10, 160
	return perByte*len(raw) + perValue*values + perPart*parts + perStep*steps
}

// Compile reads a JSON Schema. Without $schema it is read as draft 2020-12, as MCP says; a declared draft is honoured. No
// reference is ever loaded: a schema that needs one is refused, as is one that is too large or too deep, or whose
// references run in a circle without ever looking into the value. raw is not kept.
//
// OpenAPI's nullable is honoured beside type, enum, anyOf, allOf, or a $ref that has only descriptions beside it; nullable
// beside oneOf, not, if or const is ignored. A pattern that Go cannot read, such as one that looks ahead, is not checked; where that could
// turn a valid value into an invalid one, below not for instance, the schema is refused. $dynamicRef and $recursiveRef are refused.
func Compile(raw []byte) (*Schema, error) {
	doc, err := readSchema(raw)
	if err != nil {
		return nil, fmt.Errorf("reading schema: %w", err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.UseLoader(nothing{})
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
	values, _ := weigh(doc)
	always := unconditional(root)
	s := &Schema{
		always: always, useless: isUseless(always),
		doc: doc, root: root, parts: parts, quick: quickener{}.node(root),
		weight: weighSchema(raw, values, len(parts), maxPatterns-patterns.left),
	}
	s.template = sync.OnceValue(func() candor.Details { return s.templateFor(wanted{}) })
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
	switch parts, sane := countSubschemas(doc); {
	case !sane:
		return nil, errors.New("a number is too large")
	case parts > maxSchemaParts:
		return nil, fmt.Errorf("%d subschemas, limit %d", parts, maxSchemaParts)
	}
	openNullable(doc)
	return doc, nil
}

// nothing is a loader that loads nothing.
type nothing struct{}

// Load refuses.
func (nothing) Load(string) (any, error) {
	return nil, errors.New("reference to another document")
}

// countSubschemas counts the possible schemas in a document, and reports whether all its numbers are sane.
func countSubschemas(doc any) (parts int, sane bool) {
	sane = true
	each := func(v any) {
		n, ok := countSubschemas(v)
		parts, sane = parts+n, sane && ok
	}
	switch doc := doc.(type) {
	case map[string]any:
		parts++
		for _, v := range doc {
			each(v)
		}
	case []any:
		for _, v := range doc {
			each(v)
		}
	case bool:
		parts++
	case json.Number:
		sane = isSane(doc)
	}
	return parts, sane
}

// isSane reports whether a number can be worked with: it is not a million digits long, and the validator can read it.
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
