package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"github.com/candor-mcp/candor/internal/catalogue"
)

// schemaNames are the JSON Schemas: three for Candor itself, then one per dialect.
var schemaNames = []string{
	"catalogue.schema.json", "error.schema.json", "error-read.schema.json",
	"system-error.schema.json", "tool-error.schema.json", "rpc-error.schema.json",
	"dual.schema.json", "sep3313.schema.json", "problem.schema.json",
}

// schemaInput is the data of their templates.
type schemaInput struct {
	*catalogue.Catalogue
	Classes                           []string
	MaxMessage, MaxAction, MaxAfterMs int
	RPC                               []int
}

// schemas writes spec/schema. Each template is JSON with lists to fill in. Parsing the result here makes a mistake in a template
// an error of the generator.
func schemas(in Input, out Files) error {
	data := schemaInput{
		Catalogue: in.Catalogue, MaxMessage: catalogue.MaxMessage, MaxAction: catalogue.MaxAction,
		MaxAfterMs: catalogue.MaxAfterMs, RPC: catalogue.RPCNumbers(),
	}
	for _, c := range catalogue.Classes() {
		data.Classes = append(data.Classes, c.Name)
	}
	for _, name := range schemaNames {
		raw, err := execute(name+".tmpl", data)
		if err != nil {
			return err
		}
		var b bytes.Buffer
		if err := json.Indent(&b, raw, "", "  "); err != nil {
			return fmt.Errorf("rendering %s: %w", name, err)
		}
		out[path.Join("spec/schema", name)] = []byte(strings.TrimRight(b.String(), "\n") + "\n")
	}
	return nil
}
