// Package render turns the catalogue into the files that are generated from it: Go tables, documentation
// pages, JSON Schemas and the TypeScript and Python bindings. It only computes bytes; the command in
// ../gen writes them. The same input always gives the same bytes.
package render

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"text/template"

	"github.com/candor-mcp/candor/internal/catalogue"
)

// Header marks generated files. Its form is the one that Go tools recognise.
const Header = "Code generated from spec/catalogue.json by internal/catalogue/gen. DO NOT EDIT."

// Folders are the directories that hold only generated files, so that files that are no longer generated can be removed.
var Folders = []string{"codes", "docs/codes", "spec/schema", "spec/typescript", "spec/python"}

// Files maps a slash-separated path below the module root to the content of that file.
type Files map[string][]byte

// part renders some of the files.
type part func(*catalogue.Catalogue, Files) error

// All renders every generated file.
func All(in *catalogue.Catalogue) (Files, error) {
	out := Files{}
	for _, make := range []part{goCodes, index, pages, taxonomy, schemas, typescript, python} {
		if err := make(in, out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

//go:embed templates
var templateFiles embed.FS

var templates = template.Must(template.New("").Funcs(template.FuncMap{
	"header":  func() string { return Header },
	"json":    compact,
	"symbols": symbols,
	"upper":   strings.ToUpper,
}).ParseFS(templateFiles, "templates/*.tmpl"))

// execute runs the template of that name.
func execute(name string, data any) ([]byte, error) {
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, name, data); err != nil {
		return nil, fmt.Errorf("rendering %s: %w", name, err)
	}
	return b.Bytes(), nil
}

// compact returns v as JSON on one line, without escaping <, > and &, because these files are not HTML.
func compact(v any) (string, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return strings.TrimSuffix(b.String(), "\n"), err
}

func symbols(codes []catalogue.Code) []string {
	out := make([]string, len(codes))
	for i, c := range codes {
		out[i] = c.Symbol
	}
	return out
}

// bindings is the data of the templates for other languages.
type bindings struct {
	*catalogue.Catalogue
	Classes []catalogue.Class
	Retries []string
}

// typescript writes spec/typescript/candor.ts. It uses only types that can be stripped, so that it also runs without compilation.
func typescript(in *catalogue.Catalogue, out Files) error {
	return bind(in, out, "spec/typescript/candor.ts", "candor.ts.tmpl")
}

// python writes spec/python/candor_codes.py, which needs Python 3.10 and nothing else.
func python(in *catalogue.Catalogue, out Files) error {
	return bind(in, out, "spec/python/candor_codes.py", "candor_codes.py.tmpl")
}

func bind(in *catalogue.Catalogue, out Files, path, template string) error {
	data, err := execute(template, bindings{in, catalogue.Classes(), catalogue.RetryKinds()})
	out[path] = data
	return err
}

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
func schemas(in *catalogue.Catalogue, out Files) error {
	data := schemaInput{
		Catalogue: in, MaxMessage: catalogue.MaxMessage, MaxAction: catalogue.MaxAction,
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
