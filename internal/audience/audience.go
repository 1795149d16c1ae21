// Package audience has the rules for what a client program shows its model of an answer, and what an error needs to be seen there.
package audience

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/redact"
	"github.com/candor-mcp/candor/spec"
	"github.com/candor-mcp/candor/wire"
)

// Client is a row of spec/clients.json: what a client program shows its model of an answer. The zero Client is an unknown program, which
// may show anything that a known one shows.
type Client struct {
	Name       string   `json:"name"` // as in --client
	Title      string   `json:"title"`
	ClientInfo []string `json:"clientInfo"` // names in initialize; a final "*" stands for any ending
	// Result is what it shows of a result: "first" text block, all "text" blocks, "structured" content instead of the blocks, "both", or
	// the whole result as "json".
	Result    string `json:"result"`
	Separator string `json:"separator"` // stands between text blocks
	Error     string `json:"error"`     // what it shows of a JSON-RPC error: "message", or "data" for both members
	Validates bool   `json:"validates"` // checks structuredContent of a failing result
	Meta      bool   `json:"meta"`      // shows _meta
	Source    string `json:"source"`
	Date      string `json:"date"`
}

// All returns all rows. The caller must not change them.
var All = sync.OnceValue(func() []Client {
	var table struct{ Clients []Client }
	if err := json.Unmarshal(spec.Table("clients"), &table); err != nil {
		panic(err) // programmer: a test reads the file
	}
	return table.Clients
})

// Find returns the row with that name, or with that name in clientInfo, or the zero Client.
func Find(name string) Client {
	if name == "" {
		return Client{}
	}
	rows := All()
	i := slices.IndexFunc(rows, func(c Client) bool {
		return c.Name == name || slices.ContainsFunc(c.ClientInfo, func(known string) bool {
			head, open := strings.CutSuffix(known, "*")
			return known == name || open && strings.HasPrefix(name, head)
		})
	})
	if i < 0 {
		return Client{}
	}
	return rows[i]
}

// HidesText reports whether the client may show structuredContent instead of the text blocks.
func (c *Client) HidesText() bool { return c.Name == "" || c.Result == "structured" }

// Shown returns what the client shows its model of an answer. An unknown client shows the first text block.
func (c *Client) Shown(answer *wire.Message) string {
	if failure := answer.Error(); failure.Present() {
		message, _ := failure.Path("message").Str()
		if data := failure.Path("data"); c.Error == "data" && data.Present() {
			return message + "\n" + string(data.Raw())
		}
		return message
	}
	result := answer.Result()
	structured := string(result.Path("structuredContent").Raw())
	switch {
	case c.Result == "json":
		return string(result.Raw())
	case c.Result == "structured" && structured != "":
		return structured
	case c.Result == "both" && structured != "":
		return c.texts(result) + "\n" + structured
	default:
		return c.texts(result)
	}
}

// texts returns the text blocks of a result that the client shows.
func (c *Client) texts(result wire.Value) string {
	var texts []string
	for block := range result.Path("content").Elements() {
		if text, ok := block.Path("text").Str(); ok {
			texts = append(texts, text)
		}
	}
	if len(texts) > 1 && (c.Result == "first" || c.Name == "") {
		texts = texts[:1]
	}
	separator := c.Separator
	if c.Result != "text" {
		separator = "\n"
	}
	return strings.Join(texts, separator)
}

// StructuredMember is the member of details that keeps structuredContent which would hide an error.
const StructuredMember = "structuredContent"

// WithStructured returns an error with structuredContent in its details, where it is redacted and bounded. It comes last, because the
// end of details is cut first.
func WithStructured(e *candor.Error, content []byte) *candor.Error {
	details := []byte{'{'}
	switch own := e.Details().String(); {
	case len(own) <= len("{}"):
	case own[0] == '{':
		details = append(append(details, own[1:len(own)-1]...), ',')
	default:
		details = append(append(append(details, `"value":`...), own...), ',')
	}
	details = append(append(append(details, `"`+StructuredMember+`":`...), content...), '}')
	return e.With(candor.WithDetails(json.RawMessage(details)))
}

// Message returns the message of a JSON-RPC error that answers tools/call, instead of the one that was said. It is the readable block,
// because many clients show only the message, followed by what the block does not repeat.
func Message(block, message, said string) string {
	if Repeats(block, message, said) {
		return block
	}
	if said = redact.FoldLines(strings.TrimSpace(said)); redact.Imitates(said) {
		said = "Server says: " + said
	}
	return block + said
}
