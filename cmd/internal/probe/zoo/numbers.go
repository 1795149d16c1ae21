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
	defect := func(id, title, about, rule string) Defect {
		// A tool failure as a JSON-RPC error is a finding for any number.
		return Defect{ID: id, Tool: id, Title: title, About: about, Rule: rule, Also: []string{"EC004"}, Cases: missingCases}
	}
	input := defect("rpc-input", "a JSON-RPC error for wrong arguments", "Wrong arguments are answered with a JSON-RPC error, which many clients do not show to the model.", "EC004")
	input.Cases, input.Also = inputCases, nil
	return []implementation{
		{Defect: input, on: whenInput, show: numbered("-32602")},
		{Defect: defect("number-zero", "the number 0", "A missing record is a JSON-RPC error of the number 0.", "EC006"),
			on: whenMissing, show: numbered("0")},
		{Defect: defect("number-text", "a text for a number", "A missing record is a JSON-RPC error whose code is a text.", "EC006"),
			on: whenMissing, show: numbered(`"NOT_FOUND"`)},
		{Defect: defect("reserved-number", "a reserved number", "A missing record is a JSON-RPC error of the number -32050, which belongs to the specification.", "EC007"),
			on: whenMissing, show: numbered("-32050")},
		{Defect: defect("legacy-number", "a number of the legacy range", "A missing record is a JSON-RPC error of the number -32000.", "EC008"),
			on: whenMissing, show: numbered("-32000")},
		{Defect: defect("local-number", "a number of SDKs for local errors", "A missing record is a JSON-RPC error of the number -32001, which clients take for their own time-out.", "EC008"),
			on: whenMissing, show: numbered("-32001")},
		{Defect: Defect{ID: "rpc-throughout", Tool: "rpc-throughout", Title: "a JSON-RPC error for everything",
			About: "Every failure is a JSON-RPC error with its code in data.", Rule: "EC004", Cases: failingCases},
			on: whenFailing, show: func(c *call) answer {
				return one(c.rpcError(c.err.Message(), `"code":-32602,"data":`+string(dialect.AppendData(nil, c.err, dialect.Options{}))))
			}},
	}
}
