package zoo

// foreign are failures as other libraries write them.
func foreign() []implementation {
	defect := func(id, title, about, rule string) Defect {
		return Defect{ID: id, Tool: id, Title: title, About: about, Rule: rule, Cases: failingCases}
	}
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
		{Defect: Defect{ID: "vendor-recovery", Tool: "vendor-recovery", Title: "the code where no client looks",
			About: "A missing record is isError with prose; its code is in a top-level member recovery that no specification knows.", Rule: "EC010", Cases: missingCases},
			on: whenMissing, show: func(c *call) answer {
				return one(edited(c.prose().frames[0], `{"error_code":"NOT_FOUND","message":"there is no record with this name","suggest":"records","retry":false}`, "result", "recovery"))
			}},
	}
}
