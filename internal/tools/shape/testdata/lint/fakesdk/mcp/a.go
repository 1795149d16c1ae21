// Package mcp is fake.
package mcp

// X is x.
var X = 1
