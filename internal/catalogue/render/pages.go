package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/candor-mcp/candor/internal/catalogue"
)

// page is the data of the template for one code's page.
type page struct {
	catalogue.Code
	Title    string // title of the domain
	Do       string // the action of its class
	Advice   string // its retry advice in words
	Envelope string
	Wire     string // the message that holds the envelope
	Go       string // its Go name
	Related  []catalogue.Code
}

// pages writes docs/codes/<domain>/<SYMBOL>.md.
func pages(in *catalogue.Catalogue, out Files) error {
	titles := map[string]string{}
	for _, d := range in.Domains {
		titles[d.Name] = d.Title
	}
	for _, c := range in.Codes {
		p := page{Code: c, Title: titles[c.Domain], Do: doOf(c.Class), Advice: advice(c), Wire: wire(c), Go: goPackageName(c.Domain) + "." + GoName(c), Related: related(in, c)}
		var err error
		if p.Envelope, err = envelope(c); err != nil {
			return err
		}
		data, err := execute("code.md.tmpl", p)
		if err != nil {
			return err
		}
		out["docs/codes/"+c.ID()+".md"] = data
	}
	return nil
}

// index writes docs/codes/README.md.
func index(in *catalogue.Catalogue, out Files) error {
	data, err := execute("codes.md.tmpl", struct {
		*catalogue.Catalogue
		Classes []catalogue.Class
	}{in, catalogue.Classes()})
	out["docs/codes/README.md"] = data
	return err
}

func doOf(class string) string {
	for _, c := range catalogue.Classes() {
		if c.Name == class {
			return c.Do
		}
	}
	return ""
}

func advice(c catalogue.Code) string {
	switch c.Retry {
	case catalogue.RetryImmediate:
		return "the same call may be sent again at once"
	case catalogue.RetryAfterMs:
		return fmt.Sprintf("the same call may be sent again after %d ms, unless the error names another delay", c.AfterMs)
	default:
		return "the same call would fail again"
	}
}

func wire(c catalogue.Code) string {
	if c.Class == "internal" && c.RPC != 0 {
		return fmt.Sprintf("A result with `isError: true` where a tool was called, and the envelope is its `_meta[\"dev.candor/error\"]`;\n"+
			"for other methods a JSON-RPC error with the number %d, and the envelope is its `data[\"dev.candor/error\"]`:", c.RPC)
	}
	if c.Domain == "blockers" {
		return "An entry of `blockers` in a result of kind `blocked`, which is not an error ([workrail](../../workrail.md#blocked-is-not-an-error)).\n" +
			"A server that sends it as an error writes this envelope:"
	}
	if c.RPC != 0 {
		return fmt.Sprintf("A JSON-RPC error with the number %d; the envelope is its `data[\"dev.candor/error\"]`:", c.RPC)
	}
	return "A result with `isError: true`; the envelope is its `_meta[\"dev.candor/error\"]`:"
}

// envelope writes an example of the code in the native dialect, with the members in the order of the contract.
func envelope(c catalogue.Code) (string, error) {
	type retry struct {
		Kind    string `json:"kind"`
		AfterMs int64  `json:"afterMs,omitempty"`
	}
	type origin struct {
		By       string `json:"by"`
		Inferred bool   `json:"inferred"`
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(struct {
		Code       string `json:"code"`
		Class      string `json:"class"`
		Message    string `json:"message"`
		Retry      retry  `json:"retry"`
		Suggestion string `json:"suggestion"`
		Domain     string `json:"domain"`
		Number     int    `json:"number"`
		Origin     origin `json:"origin"`
		Ref        string `json:"ref"`
	}{
		c.Symbol, c.Class, c.Message, retry{c.Retry, c.AfterMs}, c.Action, c.Domain, c.Number,
		origin{By: party(c)}, "01J9Z3Q8V4K7M2N6P0R5S1T8WX",
	})
	return strings.TrimSuffix(b.String(), "\n"), err
}

// party returns the typical origin, for the example. The codes of the gateway begin at 4065.
func party(c catalogue.Code) string {
	switch {
	case c.Domain == "candor" && c.Number >= 4065 && c.Number < 4080:
		return "gateway"
	case c.RPC != 0 || c.Domain == "rate-limit":
		return "server"
	default:
		return "tool"
	}
}

// maxRelated is the maximum number of neighbours on a page. Codes with the same name and successors are always shown.
const maxRelated = 4

// related returns the successor, codes of other domains that share the symbol or an alias, and the nearest codes
// of the same domain and class.
func related(cat *catalogue.Catalogue, c catalogue.Code) []catalogue.Code {
	var out, near []catalogue.Code
	for _, other := range cat.Codes {
		switch {
		case other.ID() == c.ID():
		case other.ID() == c.Successor || other.Domain != c.Domain && namesakes(c, other):
			out = append(out, other)
		case other.Domain == c.Domain && other.Class == c.Class:
			near = append(near, other)
		}
	}
	for len(near) > maxRelated {
		near = dropFarthest(near, c.Number)
	}
	return append(out, near...)
}

func namesakes(a, b catalogue.Code) bool {
	return strings.TrimPrefix(a.Symbol, "E_") == strings.TrimPrefix(b.Symbol, "E_")
}

// dropFarthest removes the first or the last code, whichever number is farther away.
func dropFarthest(codes []catalogue.Code, number int) []catalogue.Code {
	last := len(codes) - 1
	if number-codes[0].Number > codes[last].Number-number {
		return codes[1:]
	}
	return codes[:last]
}
