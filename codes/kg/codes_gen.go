// Code generated from spec/catalogue.json by internal/catalogue/gen. DO NOT EDIT.

// Package kg has the codes of the domain kg: a store of subject, predicate and object triples.
package kg

import (
	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/codetable"
)

// The codes of the domain kg.
var (
	// Full is kg/E_KG_FULL, number 2400. The knowledge graph is full.
	Full = candor.CodeAt(codetable.At(23))
	// InvalidTriple is kg/E_KG_INVALID_TRIPLE, number 2401. The triple is not complete.
	InvalidTriple = candor.CodeAt(codetable.At(24))
)
