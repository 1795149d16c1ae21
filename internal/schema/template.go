package schema

import (
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/candor-mcp/candor"
)

func (s *Schema) template(meant wanted) candor.Details { return candor.Details{} }
func (s *Schema) example(part *jsonschema.Schema) any  { return nil }
