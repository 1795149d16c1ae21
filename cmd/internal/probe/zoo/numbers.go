package zoo

import (
	"github.com/candor-mcp/candor/dialect"
)

// numbered returns an answer with a JSON-RPC error with this number that is correct otherwise.
func numbered(number string) func(*call) answer {
	return func(c *call) answer { return one(edited(c.refuse(c.err), number, "error", "code")) }
}

// numbers are failures in the wrong channel, or with a wrong number.
func numbers() []implementation {
	number := func(id, title, about, rule string) Defect {
		d := defect(id, title, about, rule)
		d.Also = []string{"EC004"} // a tool failure as a JSON-RPC error is a finding for any number
		return d
	}
	return []implementation{
		{Defect: defect("rpc-input", "a JSON-RPC error for wrong arguments", "Wrong arguments are answered with a JSON-RPC error, which many clients do not show to the model.", "EC004"),
			on: whenInput, show: numbered("-32602")},
		{Defect: number("number-zero", "the number 0", "A missing record is a JSON-RPC error of the number 0.", "EC006"),
			on: whenMissing, show: numbered("0")},
		{Defect: number("number-text", "a text for a number", "A missing record is a JSON-RPC error whose code is a text.", "EC006"),
			on: whenMissing, show: numbered(`"NOT_FOUND"`)},
		{Defect: number("reserved-number", "a reserved number", "A missing record is a JSON-RPC error of the number -32050, which belongs to the specification.", "EC007"),
			on: whenMissing, show: numbered("-32050")},
		{Defect: number("legacy-number", "a number of the legacy range", "A missing record is a JSON-RPC error of the number -32000.", "EC008"),
			on: whenMissing, show: numbered("-32000")},
		{Defect: number("local-number", "a number of SDKs for local errors", "A missing record is a JSON-RPC error of the number -32001, which clients take for their own time-out.", "EC008"),
			on: whenMissing, show: numbered("-32001")},
		{Defect: defect("rpc-throughout", "a JSON-RPC error for everything", "Every failure is a JSON-RPC error with its code in data.", "EC004"),
			on: whenFailing, show: func(c *call) answer {
				return one(c.rpcError(c.err.Message(), `"code":-32602,"data":`+string(dialect.AppendData(nil, c.err, dialect.Options{}))))
			}},
	}
}

// foreign are failures as other libraries write them.
func foreign() []implementation {
	prefixed := func(prefix string) func(*call) answer {
		return func(c *call) answer {
			return one(withText(c.prose().frames[0], func(text string) string { return prefix + text }))
		}
	}
	return []implementation{
		{Defect: defect("mcp-prefix", "a number in front of the text", "A failure is isError with a text that begins with MCP error -32602, as the TypeScript SDK writes it.", "EC010"),
			on: whenFailing, show: prefixed("MCP error -32602: ")},
		{Defect: defect("executing-prefix", "the name of the tool in front of the text", "A failure is isError with a text that begins with Error executing tool, as the Python SDK writes it.", "EC010"),
			on: whenFailing, show: prefixed("Error executing tool executing-prefix: ")},
		{Defect: defect("calling-prefix", "the name of the tool in front of the text", "A failure is isError with a text that begins with Error calling tool, as FastMCP writes it.", "EC010"),
			on: whenFailing, show: prefixed("Error calling tool 'calling-prefix': ")},
		{Defect: Defect{ID: "masked-generic", Tool: "masked-generic", Title: "a failure without its reason",
			About: "A missing record is isError with nothing but: Error executing tool masked-generic.", Rule: "EC010", Also: []string{"EC014"}, Cases: missingCases},
			on: whenMissing, show: func(c *call) answer { return one(c.failure("Error executing tool masked-generic")) }},
		{Defect: defect("vendor-recovery", "the code where no client looks", "A missing record is isError with prose; its code is in a top-level member recovery that no specification knows.", "EC010"),
			on: whenMissing, show: func(c *call) answer {
				return one(edited(c.prose().frames[0], `{"error_code":"NOT_FOUND","message":"there is no record with this name","suggest":"records","retry":false}`, "result", "recovery"))
			}},
	}
}
