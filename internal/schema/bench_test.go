package schema_test

import (
	"bytes"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/candor-mcp/candor/internal/schema"
)

const (
	benchSchema = `{"type":"object","properties":{"query":{"type":"string","minLength":1},"limit":{"type":"integer","minimum":1,"maximum":100},
		"order":{"enum":["asc","desc"]}},"required":["query"],"additionalProperties":false}`
	benchValue = `{"query":"the quick brown fox","limit":10,"order":"asc"}`
)

// BenchmarkAccepts is what a call with good arguments pays.
func BenchmarkAccepts(b *testing.B) {
	s := compile(b, benchSchema)
	value := []byte(benchValue)
	b.ReportAllocs()
	for b.Loop() {
		if !s.Accepts(value) {
			b.Fatal("refused")
		}
	}
}

// BenchmarkFullValidation is the same value decoded and checked by the library.
func BenchmarkFullValidation(b *testing.B) {
	s := library(b, benchSchema)
	value := []byte(benchValue)
	b.ReportAllocs()
	for b.Loop() {
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(value))
		if err != nil || s.Validate(v) != nil {
			b.Fatal("refused")
		}
	}
}

// BenchmarkExplain is what a call with bad arguments pays.
func BenchmarkExplain(b *testing.B) {
	s := compile(b, benchSchema)
	value := []byte(`{"qery":"the quick brown fox","limit":1000,"order":"up"}`)
	b.ReportAllocs()
	for b.Loop() {
		if s.Explain(value).OK() {
			b.Fatal("accepted")
		}
	}
}

// BenchmarkCompile is what the first call of a tool pays.
func BenchmarkCompile(b *testing.B) {
	raw := []byte(benchSchema)
	for b.Loop() {
		if _, err := schema.Compile(raw); err != nil {
			b.Fatal(err)
		}
	}
}

func compile(tb testing.TB, raw string) *schema.Schema {
	tb.Helper()
	s, err := schema.Compile([]byte(raw))
	if err != nil {
		tb.Fatalf("compiling %s: %v", raw, err)
	}
	return s
}

// library compiles with the library alone, as a judge of what we built on it.
func library(tb testing.TB, raw string) *jsonschema.Schema {
	tb.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(raw)))
	if err != nil {
		tb.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	if err := c.AddResource("judge:/schema", doc); err != nil {
		tb.Fatal(err)
	}
	s, err := c.Compile("judge:/schema")
	if err != nil {
		tb.Fatalf("compiling %s: %v", raw, err)
	}
	return s
}
