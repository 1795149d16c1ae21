package decodecmd

import (
	"fmt"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
)

// rpcNumber is a number, or a range of numbers, that JSON-RPC or MCP defines.
type rpcNumber struct {
	from, to int
	name     string
	state    string // "standard", "mcp", "retired", "legacy", "reserved", "invalid"
	meaning  string
	instead  string
}

// rpcNumbers are in lookup order: single numbers before the ranges that contain them. Sources: the JSON-RPC 2.0 specification and the
// allocation policy of MCP 2026-07-28.
var rpcNumbers = []rpcNumber{
	{-32700, -32700, "Parse error", "standard", "The bytes are not JSON.",
		"The answer has no id: none could be read."},
	{-32600, -32600, "Invalid request", "standard", "It is JSON, but not a request that the protocol allows here.", ""},
	{-32601, -32601, "Method not found", "standard", "The server does not offer this method.",
		"An unknown tool is not an unknown method: it is -32602."},
	{-32602, -32602, "Invalid params", "standard", "The method exists, and its parameters name or hold something that does not fit.",
		"Bad arguments of a tool that exists are a result with isError, so that the model sees them."},
	{-32603, -32603, "Internal error", "standard", "The server broke while it answered.",
		"A tool that failed is a result with isError; this number is for other methods."},
	{-32020, -32020, "Header mismatch", "mcp", "HTTP headers and message contradict each other.", ""},
	{-32021, -32021, "Missing required client capability", "mcp", "The server needs something that the client did not declare.", ""},
	{-32022, -32022, "Unsupported protocol version", "mcp", "The server does not speak the version that was asked for.", ""},
	{-32000, -32000, "Server error (legacy)", "legacy", "A catch-all of older servers; some SDKs also use it on their own side for a closed connection.",
		"New servers use an application number outside -32768 to -32000. Candor reads it and never writes it."},
	{-32001, -32001, "Request timeout or draft number", "legacy", "Drafts of MCP used it, and some SDKs use it on their own side for a timeout.",
		"A peer must not send it; say E_TIMEOUT (1001) or a code of your own."},
	{-32002, -32002, "Resource not found (retired)", "retired", "Retired since MCP 2026-07-28.",
		"Send -32602 with data.uri. Clients still accept the old number."},
	{-32042, -32042, "URL elicitation required (retired)", "retired", "Retired since MCP 2026-07-28. It was never a failure: the server asks the user for something.",
		"Answer with a result of the type input_required."},
	{-32004, -32003, "Draft number", "legacy", "Drafts of MCP used it; no released version does.", "Use a number that is allotted."},
	{-32019, -32000, "Server error (legacy range)", "legacy", "-32000 to -32019 were free for servers once.",
		"New servers use application numbers outside -32768 to -32000."},
	{-32099, -32020, "Reserved for MCP", "reserved", "-32020 to -32099 are allotted by the MCP specification alone, and this one is not allotted.",
		"Use an application number outside -32768 to -32000."},
	{-32768, -32100, "Reserved by JSON-RPC", "reserved", "-32768 to -32000 are reserved by JSON-RPC 2.0, and this one has no meaning.",
		"Use an application number outside that range."},
	{0, 0, "Not a code", "invalid", "Zero means nothing. One common SDK writes it for any error that has no number of its own.",
		"Give the error a code; Candor reads the message and infers one."},
}

// aboutRPC returns the definition of a number, if there is one.
func aboutRPC(number int) (about rpcNumber, ok bool) {
	for _, about := range rpcNumbers {
		if number >= about.from && number <= about.to {
			return about, true
		}
	}
	return rpcNumber{}, false
}

// codesOf returns the codes with a JSON-RPC number.
func codesOf(rpc int) []candor.Code {
	var out []candor.Code
	for c := range candor.Codes() {
		if c.Info().RPCNumber == rpc {
			out = append(out, c)
		}
	}
	return out
}

// explainedRPC is the line of `candor explain --json` for a JSON-RPC number.
type explainedRPC struct {
	RPC     int       `json:"rpc"`
	Name    string    `json:"name"`
	State   string    `json:"status"`
	Meaning string    `json:"meaning"`
	Instead string    `json:"advice,omitempty"`
	Codes   []codeRow `json:"codes"`
}

func (c *explainCommand) explainRPC(env *term.Env, number int, about rpcNumber) error {
	codes := codesOf(number)
	if c.json {
		out := explainedRPC{RPC: number, Name: about.name, State: about.state, Meaning: about.meaning, Instead: about.instead, Codes: []codeRow{}}
		for _, code := range codes {
			out.Codes = append(out.Codes, rowOf(code))
		}
		return term.WriteJSONLine(env.Out, out)
	}
	p := env.Colors()
	fmt.Fprintf(env.Out, "%s  %s\n%s\n", p.Bold(fmt.Sprint(number)), p.Faint("JSON-RPC: "+about.name), about.meaning)
	if about.instead != "" {
		fmt.Fprintln(env.Out, about.instead)
	}
	if len(codes) > 0 {
		fmt.Fprintf(env.Out, "\nCodes with this number:\n")
	}
	for _, code := range codes {
		fmt.Fprintf(env.Out, "  %s %s\n", p.Name(term.Pad(code.String(), 34)), code.Info().Sentence)
	}
	return nil
}
