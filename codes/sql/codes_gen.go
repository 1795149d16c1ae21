// Code generated from spec/catalogue.json by internal/catalogue/gen. DO NOT EDIT.

// Package sql has the codes of the domain sql: talking to a relational database.
package sql

import (
	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/codetable"
)

// The codes of the domain sql.
var (
	// Conn is sql/E_SQL_CONN, number 2600. The database could not be reached.
	Conn = candor.CodeAt(codetable.At(29))
	// Query is sql/E_SQL_QUERY, number 2601. The database rejected the query.
	Query = candor.CodeAt(codetable.At(30))
)
