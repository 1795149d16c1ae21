// Code generated from spec/catalogue.json by internal/catalogue/gen. DO NOT EDIT.

// Package memorybank has the codes of the domain memory-bank: reading and searching a folder of notes.
package memorybank

import (
	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/codetable"
)

// The codes of the domain memory-bank.
var (
	// FileNotFound is memory-bank/E_MB_FILE_NOT_FOUND, number 2300. The memory bank has no such file.
	FileNotFound = candor.CodeAt(codetable.At(21))
	// Read is memory-bank/E_MB_READ, number 2301. A file of the memory bank could not be read.
	Read = candor.CodeAt(codetable.At(22))
)
