// Package patch reads unified diffs and applies them to bytes. It touches no disk: who may change which file is decided elsewhere.
package patch

import "github.com/candor-mcp/candor"

// Kind is what a patch does to a file.
type Kind string

// The kinds.
const (
	Change Kind = "change"
	Create Kind = "create"
	Delete Kind = "delete"
)

// File is what a patch does to one file.
type File struct {
	Old, New       string // as the patch names them, slashes between; "" for /dev/null
	Kind           Kind
	Added, Removed int // lines
}

// Parse reads a patch. The error is PATCH_INVALID.
func Parse(_ []byte) ([]File, error) {
	return nil, candor.New(candor.CodeKaizaPatchInvalid, "")
}

// Apply returns the file as it is after the patch. old is nil where the patch creates the file, and the result where it deletes it.
// The error is PATCH_APPLY_FAILED.
func (f File) Apply(_ []byte) ([]byte, error) {
	return nil, candor.New(candor.CodeKaizaPatchApplyFailed, "")
}
