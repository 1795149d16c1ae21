// Package render turns the catalogue into the files that are generated from it: Go tables, documentation
// pages, JSON Schemas and the TypeScript and Python bindings. It only computes bytes; the command in
// ../gen writes them. The same input always gives the same bytes.
package render

import (
	"github.com/candor-mcp/candor/internal/catalogue"
)

// Header marks generated files. Its form is the one that Go tools recognise.
const Header = "Code generated from spec/catalogue.json by internal/catalogue/gen. DO NOT EDIT."

// Files maps a slash-separated path below the module root to the content of that file.
type Files map[string][]byte

// Input is what all files are made of.
type Input struct {
	Catalogue *catalogue.Catalogue
	Phrases   *catalogue.Phrases
}

// part makes some of the files.
type part func(Input, Files) error

// All renders every generated file.
func All(in Input) (Files, error) {
	out := Files{}
	for _, make := range []part{goCodes, goPhrases} {
		if err := make(in, out); err != nil {
			return nil, err
		}
	}
	return out, nil
}
