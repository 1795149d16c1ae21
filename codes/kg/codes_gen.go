// Code generated from spec/catalogue.json by internal/catalogue/gen. DO NOT EDIT.

// Package kg has the codes of the domain kg: a store of subject, predicate and object triples.
package kg

import "github.com/candor-mcp/candor"

// The codes of the domain kg.
const (
	// Full is kg/E_KG_FULL. The knowledge graph is full.
	Full candor.Code = 2400
	// InvalidTriple is kg/E_KG_INVALID_TRIPLE. The triple has a part that cannot be stored.
	InvalidTriple candor.Code = 2401
)
