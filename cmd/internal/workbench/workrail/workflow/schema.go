package workflow

import (
	"bytes"
	_ "embed"
)

//go:embed workflow.schema.json
var fileSchema []byte

// Schema returns the JSON Schema (draft 2020-12) of a workflow file, for editors. It cannot express everything that
// [Parse] checks, such as unique step IDs, but every file that Parse accepts is valid.
func Schema() []byte { return bytes.Clone(fileSchema) }
