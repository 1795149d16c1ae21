// Code generated from spec/catalogue.json by internal/catalogue/gen. DO NOT EDIT.

// Package filesystem has the codes of the domain filesystem: reading and writing files below one root folder.
package filesystem

import (
	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/codetable"
)

// The codes of the domain filesystem.
var (
	// PathEscape is filesystem/E_FS_PATH_ESCAPE, number 2500. The path leads outside the permitted folder.
	PathEscape = candor.CodeAt(codetable.At(25))
	// Denied is filesystem/E_FS_DENIED, number 2501. The policy does not allow this file operation.
	Denied = candor.CodeAt(codetable.At(26))
	// NotFound is filesystem/E_FS_NOT_FOUND, number 2502. There is no file or folder at this path.
	NotFound = candor.CodeAt(codetable.At(27))
	// WriteTooLarge is filesystem/E_FS_WRITE_TOO_LARGE, number 2503. The content to write is larger than allowed.
	WriteTooLarge = candor.CodeAt(codetable.At(28))
)
