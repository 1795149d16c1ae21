// Code generated from spec/catalogue.json by internal/catalogue/gen. DO NOT EDIT.

// Package sql has the codes of the domain sql: talking to a relational database.
package sql

import "github.com/candor-mcp/candor"

// The codes of the domain sql.
const (
	// Conn is sql/E_SQL_CONN. The database could not be reached.
	Conn candor.Code = 2600
	// Query is sql/E_SQL_QUERY. The database rejected the query.
	Query candor.Code = 2601
)
