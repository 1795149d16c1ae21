package render

import (
	"github.com/candor-mcp/candor/internal/catalogue"
)

// bindings is the data of the templates for other languages.
type bindings struct {
	*catalogue.Catalogue
	Classes []catalogue.Class
	Retries []string
}

// typescript writes spec/typescript/candor.ts. It uses only types that can be stripped, so that it also runs without compilation.
func typescript(in Input, out Files) error {
	return bind(in, out, "spec/typescript/candor.ts", "candor.ts.tmpl")
}

// python writes spec/python/candor_codes.py, which needs Python 3.10 and nothing else.
func python(in Input, out Files) error {
	return bind(in, out, "spec/python/candor_codes.py", "candor_codes.py.tmpl")
}

func bind(in Input, out Files, path, template string) error {
	data, err := execute(template, bindings{in.Catalogue, catalogue.Classes(), catalogue.RetryKinds()})
	out[path] = data
	return err
}
