package run_test

import (
	"encoding/json"
	"fmt"

	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/run"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/workflow"
)

func Example() {
	w, err := workflow.Parse("rename.yaml", []byte(`
id: rename
name: Rename
context: [{key: files, required: true}]
steps:
  - id: files
    loop:
      each: files
      as: file
      maxIterations: 50
      steps:
        - {id: edit, prompt: "Rename the type in {{file}}."}
  - {id: test, prompt: Run the tests.}
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	context := map[string]any{"files": []any{"a.go", "b.go"}}
	position, err := run.Start(w, context)
	for err == nil {
		pending, ok, _ := position.Pending(w, context)
		if !ok {
			break
		}
		fmt.Printf("%s: %s\n", pending.Path, pending.Prompt)
		position, err = run.Advance(w, position, context)
	}
	stored, _ := json.Marshal(position)
	fmt.Println(string(stored), err)
	// Output:
	// files[1].edit: Rename the type in a.go.
	// files[2].edit: Rename the type in b.go.
	// test: Run the tests.
	// {"v":1} <nil>
}
