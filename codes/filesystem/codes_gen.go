// Code generated from spec/catalogue.json by internal/catalogue/gen. DO NOT EDIT.

// Package filesystem has the codes of the domain filesystem: reading and writing files below one root folder.
package filesystem

import "github.com/candor-mcp/candor"

// The codes of the domain filesystem.
const (
	// PathEscape is filesystem/E_FS_PATH_ESCAPE. The path leads outside the permitted folder.
	PathEscape candor.Code = 2500
	// Denied is filesystem/E_FS_DENIED. The policy does not allow this file operation.
	Denied candor.Code = 2501
	// NotFound is filesystem/E_FS_NOT_FOUND. No file or folder exists at this path.
	NotFound candor.Code = 2502
	// WriteTooLarge is filesystem/E_FS_WRITE_TOO_LARGE. The content to write is larger than allowed.
	WriteTooLarge candor.Code = 2503
)
