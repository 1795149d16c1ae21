package render

import (
	"github.com/candor-mcp/candor/internal/catalogue"
)

// lastTaxonomyNumber is the last number that the harness serves. The domains after it belong to other systems.
const lastTaxonomyNumber = 3199

// taxonomy writes docs/taxonomy.md, which lists the numbers that a client of the harness can receive.
func taxonomy(in *catalogue.Catalogue, out Files) error {
	view := struct {
		*catalogue.Catalogue
		Served   []catalogue.Domain
		Shared   []shared
		Protocol []catalogue.Code
		Example  catalogue.Code
	}{Catalogue: in}
	for _, d := range in.Domains {
		if d.To <= lastTaxonomyNumber {
			view.Served = append(view.Served, d)
			continue
		}
		if codes := sharedCodes(in, d.Name); len(codes) > 0 {
			view.Shared = append(view.Shared, shared{d, codes})
		}
	}
	for _, c := range in.Codes {
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

// lineProtocol are the codes about messages that the harness writes with a JSON-RPC number; those after INTERNAL_ERROR only in its MCP
// mode.
var lineProtocol = map[string]bool{
	"PARSE_ERROR": true, "INVALID_REQUEST": true, "METHOD_NOT_FOUND": true, "INVALID_REQUEST_PARAMS": true, "INTERNAL_ERROR": true,
	"TOOL_NOT_FOUND": true, "BATCH_UNSUPPORTED": true, "NOT_INITIALIZED": true, "DUPLICATE_REQUEST_ID": true,
	"PROTOCOL_VERSION_UNSUPPORTED": true, "PROMPT_NOT_FOUND": true, "RESOURCE_NOT_FOUND": true,
}

// shared is a domain of another system with the codes that the harness also writes.
type shared struct {
	catalogue.Domain
	Codes []catalogue.Code
}

func sharedCodes(all *catalogue.Catalogue, domain string) []catalogue.Code {
	var codes []catalogue.Code
	for _, c := range all.Codes {
		if c.Domain == domain && harnessShares[c.Domain+"/"+c.Symbol] {
			codes = append(codes, c)
		}
	}
	return codes
}

// harnessShares are the codes of other domains that the harness sends or counts. The tests of the harness fail if it sends one
// that is not on the page.
var harnessShares = map[string]bool{
	"candor/RESULT_NOT_ENCODABLE": true, "candor/STRAY_ANSWER": true, "candor/CANCELLED": true, "candor/UNAVAILABLE": true, "candor/DATA_CORRUPT": true, "candor/DISK_FULL": true,
	"candor/AUDIT_LOG_FAILED": true, "candor/AUDIT_LOCK_FAILED": true, "candor/TOO_MANY_CALLS": true, "kaiza/SELF_AUDIT_FAILURE": true,
}
