package render

import (
	"github.com/candor-mcp/candor/internal/catalogue"
)

// lastTaxonomyNumber ends the ranges that the harness serves. The domains behind it belong to other systems.
const lastTaxonomyNumber = 3199

// taxonomy writes docs/taxonomy.md: the numbers that a client of the harness meets.
func taxonomy(in Input, out Files) error {
	view := struct {
		*catalogue.Catalogue
		Served   []catalogue.Domain
		Protocol []catalogue.Code
		Example  catalogue.Code
	}{Catalogue: in.Catalogue}
	for _, d := range in.Catalogue.Domains {
		if d.To <= lastTaxonomyNumber {
			view.Served = append(view.Served, d)
		}
	}
	for _, c := range in.Catalogue.Codes {
		if c.Symbol == "E_PW_NAV" {
			view.Example = c
		}
		if c.Domain == "candor" && lineProtocol[c.Symbol] {
			view.Protocol = append(view.Protocol, c)
		}
	}
	data, err := execute("taxonomy.md.tmpl", view)
	out["docs/taxonomy.md"] = data
	return err
}

// lineProtocol are the codes about messages that line mode writes with the number of JSON-RPC.
var lineProtocol = map[string]bool{
	"PARSE_ERROR": true, "INVALID_REQUEST": true, "METHOD_NOT_FOUND": true, "INVALID_REQUEST_PARAMS": true, "INTERNAL_ERROR": true,
}
