// Package render turns the catalogue into the files that are generated from it: Go tables, documentation
// pages, JSON Schemas and the TypeScript and Python bindings. It only computes bytes; the command in
// ../gen writes them. The same input always gives the same bytes.
package render

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
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

// Input is the data for all files.
type Input struct {
	Catalogue *catalogue.Catalogue
	Phrases   *catalogue.Phrases
}

// part renders some of the files.
type part func(Input, Files) error

// All renders every generated file.
func All(in Input) (Files, error) {
	out := Files{}
	for _, make := range []part{goCodes, goPhrases, index, pages, taxonomy, schemas, typescript, python} {
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
