package workflow

import (
	"bytes"
	_ "embed"
)

//go:embed workflow.schema.json
var fileSchema []byte

// Schema returns the JSON Schema (draft 2020-12) of a workflow file, for editors. It cannot say everything that [Parse]
// checks, such as that step IDs are unique, but every file that Parse accepts is valid.
func Schema() []byte { return bytes.Clone(fileSchema) }
