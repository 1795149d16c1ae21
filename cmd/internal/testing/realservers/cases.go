package realservers

import (
	"encoding/json"
	"fmt"

	"github.com/candor-mcp/candor/internal/pointer"
	"github.com/candor-mcp/candor/internal/schema"
	"github.com/candor-mcp/candor/internal/splice"
)

// Case is one request to a server.
type Case struct {
	Name   string // description
	Tool   string // "" for a request that is not a tool call
	Method string
	Params json.RawMessage
	Field  string // JSON Pointer of the argument that violates the tool's schema, "" if none does
}

// maxTools limits how many tools of a server are called with bad arguments.
const maxTools = 4

// protocolCases returns requests that any server can be sent.
func protocolCases() []Case {
	return []Case{
		callCase("unknown tool", "zz_no_such_tool", json.RawMessage(`{}`), ""),
		{Name: "unknown method", Method: "no/such/method", Params: json.RawMessage(`{}`)},
		{Name: "unknown resource", Method: "resources/read", Params: json.RawMessage(`{"uri":"zz://no/such/resource"}`)},
		{Name: "unknown prompt", Method: "prompts/get", Params: json.RawMessage(`{"name":"zz_no_such_prompt"}`)},
	}
}

// badArguments derives calls that violate the schemas of the first tools whose schemas can be violated.
func badArguments(tools []tool, careful bool) []Case {
	var all []Case
	asked := 0
	for _, t := range tools {
		if asked == maxTools {
			break
		}
		cases := t.badArguments(careful)
		if len(cases) > 0 {
			asked++
		}
		all = append(all, cases...)
	}
	return all
}

// tool has the fields of a tool that are needed to derive bad calls.
type tool struct {
	Name        string
	InputSchema json.RawMessage
}

func (t tool) badArguments(careful bool) []Case {
	compiled, err := schema.Compile(t.InputSchema)
	if err != nil {
		return nil
	}
	var known struct {
		Required   []string
		Properties map[string]property
	}
	if json.Unmarshal(t.InputSchema, &known) != nil {
		return nil
	}
	var cases []Case
	if len(known.Required) > 0 {
		cases = append(cases, callCase("no arguments", t.Name, json.RawMessage(`{}`), pointer.Of(known.Required[0])))
	}
	if careful {
		return cases
	}
	// Required arguments come first: the server may ignore a bad optional argument and carry out the call.
	good := []byte(compiled.Explain(nil).Template.String())
	for _, name := range known.Required {
		if p := known.Properties[name]; p.wrong() != "" {
			if bad, err := splice.SetMember(nil, good, []string{name}, []byte(p.wrong())); err == nil {
				cases = append(cases, callCase("wrong type", t.Name, bad, pointer.Of(name)))
			}
			break
		}
	}
	for _, name := range known.Required {
		if p := known.Properties[name]; len(p.Enum) > 0 {
			if bad, err := splice.SetMember(nil, good, []string{name}, []byte(`"zz_no_such_choice"`)); err == nil {
				cases = append(cases, callCase("no such choice", t.Name, bad, pointer.Of(name)))
			}
			break
		}
	}
	return cases
}

// property is one argument in the tool's schema.
type property struct {
	Type any
	Enum []any
}

// wrong returns a value of another type, "" if the type is unknown.
func (p property) wrong() string {
	switch p.Type {
	case "string":
		return `12345`
	case "number", "integer", "boolean", "array", "object":
		return `"zz wrong"`
	}
	return ""
}

func callCase(name, tool string, arguments json.RawMessage, field string) Case {
	params, err := json.Marshal(map[string]any{"name": tool, "arguments": arguments})
	if err != nil {
		params = fmt.Appendf(nil, `{"name":%q}`, tool) // cannot happen: the arguments are JSON
	}
	return Case{Name: name, Tool: tool, Method: "tools/call", Params: params, Field: field}
}
