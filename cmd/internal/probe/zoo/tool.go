package zoo

import (
	"encoding/json"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/argerror"
	"github.com/candor-mcp/candor/internal/schema"
)

// tool is a tool of the server.
type tool struct {
	name   string
	about  string
	input  string   // JSON Schema
	output string   // JSON Schema, "" for none
	codes  []string // declared codes
	writes bool

	schema *schema.Schema     // of input
	find   func(*call)        // runs a call with valid arguments: sets found or err, and the state
	answer func(*call) answer // writes the answer
}

// recordSchema is the input of most tools. It allows every kind of wrong argument that probe sends.
const recordSchema = `{"type":"object","properties":{` +
	`"name":{"type":"string","minLength":1,"maxLength":64,"description":"Which record.","examples":["alpha"]},` +
	`"mode":{"type":"string","enum":["brief","full"],"description":"How much of it."},` +
	`"limit":{"type":"integer","minimum":1,"maximum":100,"description":"How many lines of it at most."}},` +
	`"required":["name","mode"],"additionalProperties":false}`

const (
	optionalSchema = `{"type":"object","properties":{"name":{"type":"string","description":"Which record.","examples":["alpha"]}},"additionalProperties":false}`
	emptySchema    = `{"type":"object","properties":{},"additionalProperties":false}`
	outputSchema   = `{"type":"object","properties":{"name":{"type":"string"},"lines":{"type":"integer"}},"required":["name","lines"],"additionalProperties":false}`
)

// records are all records of the server.
var records = map[string]int{"alpha": 3, "beta": 5, "gamma": 8}

// honestTool returns a tool without defects that reads a record.
func honestTool(name string) *tool {
	return &tool{name: name, about: "Reads one of the records of the zoo; the tool records names them.", input: recordSchema,
		find: findRecord, answer: (*call).honest}
}

// recordsTool returns a tool without arguments that cannot fail.
func recordsTool() *tool {
	return &tool{name: "records", about: "Names all records of the zoo.", input: emptySchema,
		find: func(c *call) { c.found = `{"records":["alpha","beta","gamma"]}` }, answer: (*call).honest}
}

// findRecord runs most tools.
func findRecord(c *call) {
	name, _ := c.arguments.Path("name").Str()
	lines, ok := records[name]
	if !ok {
		c.state = whenMissing
		c.err = candor.New(candor.CodeNotFound, "There is no record with the name that was given.", candor.WithTool(c.tool.name),
			candor.WithDetails(map[string]any{"path": "/name"}), candor.WithSuggestion("Call the tool records for the existing names."))
		return
	}
	found, _ := json.Marshal(struct { // a text and a number can be encoded
		Name  string `json:"name"`
		Lines int    `json:"lines"`
	}{name, lines})
	c.found = string(found)
}

// examine determines the correct outcome of a call.
func (c *call) examine() {
	c.state = whenSound
	if c.err = argerror.Arguments(c.tool.schema, c.arguments.Raw(), candor.PartyTool); c.err != nil {
		c.err = c.err.With(candor.WithTool(c.tool.name))
		c.state = whenInput
		return
	}
	c.tool.find(c)
}

// listed returns the tool as tools/list shows it.
func (t *tool) listed() string {
	out := `{"name":` + quote(t.name) + `,"description":` + quote(t.about) + `,"inputSchema":` + t.input
	if t.output != "" {
		out += `,"outputSchema":` + t.output
	}
	if len(t.codes) > 0 {
		out += `,"_meta":{"dev.candor/codes":["` + strings.Join(t.codes, `","`) + `"]}`
	}
	if t.writes {
		return out + `,"annotations":{"readOnlyHint":false,"destructiveHint":false}}`
	}
	return out + `,"annotations":{"readOnlyHint":true,"idempotentHint":true,"openWorldHint":false}}`
}
