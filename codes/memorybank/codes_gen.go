// Code generated from spec/catalogue.json by internal/catalogue/gen. DO NOT EDIT.

// Package memorybank has the codes of the domain memory-bank: reading and searching a folder of notes.
package memorybank

import "github.com/candor-mcp/candor"

// The codes of the domain memory-bank.
const (
	// FileNotFound is memory-bank/E_MB_FILE_NOT_FOUND. The memory bank has no such file.
	FileNotFound candor.Code = 2300
	// Read is memory-bank/E_MB_READ. A file of the memory bank could not be read.
	Read candor.Code = 2301
)
