package zoo

import (
	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/probe"
)

// plain returns a failure of a good server without Candor, with the given members and a correlation id.
func (c *call) plain(members string) answer {
	return one(c.failure(`{"error":{` + members + `,"requestId":"` + c.ref() + `"}}`))
}

// failsWith returns a function that answers with the failure of [call.plain].
func failsWith(members string) func(*call) answer {
	return func(c *call) answer { return c.plain(members) }
}

const wrongArguments = `"code":"INVALID_ARGUMENTS","message":"The arguments do not fit the schema of the tool.","retryable":false`

// facts are reported failures without something that an agent needs.
func facts() []implementation {
	return []implementation{
		{Defect: defect("codeless", "no code", "A failure is only prose, without a code.", "EC010"),
			on: whenFailing, show: (*call).prose},
		{Defect: defect("shifting-codes", "a code that changes", "The same call fails with one code first and with another the next time.", "EC011", probe.CaseMissingRequired),
			on: whenFailing, show: (*call).shifting},
		{Defect: defect("retry-header", "a rate limit with the delay in a header", "A call is refused because of a rate limit; the delay is in the header Retry-After, which no model sees.", "EC013", missingCases...),
			on: whenAsked, show: func(c *call) answer {
				a := c.plain(`"code":"RATE_LIMITED","message":"The record was read too often in this minute.","retryable":true`)
				a.retryAfter = "30"
				return a
			}},
		{Defect: defect("generic", "an uninformative message", "A missing record is reported as: Something went wrong.", "EC014"),
			on: whenMissing, show: worded(block("Something went wrong"))},
		{Defect: defect("wordless", "an empty message", "A missing record is reported with a code and an empty message.", "EC014"),
			on: whenMissing, show: worded(block(""))},
		{Defect: defect("empty-error", "an error without content", "A missing record is a result that says isError and has no content.", "EC014"),
			on: whenMissing, show: worded("")},
		{Defect: defect("field-unnamed", "the wrong argument is not named", "Wrong arguments are refused without naming them.", "EC015"),
			on: whenInput, show: failsWith(wrongArguments)},
		{Defect: defect("first-issue", "only the first wrong argument is named", "Of two missing arguments only the first is named.", "EC033", probe.CaseMissingRequired),
			on: whenInput, show: (*call).firstIssue},
		{Defect: defect("unrequired", "an argument that the schema does not require", "The schema requires nothing, but a call without a name is refused.", "EC052", probe.CaseNoArgsValid, probe.CaseArgsAbsent),
			input: optionalSchema, on: whenMissing, show: failsWith(`"code":"INVALID_ARGUMENTS","message":"The argument name is required.","retryable":false`)},
		{Defect: defect("broken-envelope", "an invalid canonical error", "A missing record is reported correctly, but the canonical error in _meta has invalid retry advice.", "EC044"),
			on: whenMissing, show: func(c *call) answer {
				return one(edited(c.candorFailure(c.err), `{"kind":"maybe"}`, "result", "_meta", dialect.MetaKey, "retry"))
			}},
		{Defect: defect("undeclared", "a code that was not declared", "The tool declares one code and fails with another.", "EC038", missingCases...),
			on: 0, codes: []string{"INVALID_ARGUMENTS"}},
	}
}

// worded is a failure whose code is in structuredContent, with these content blocks.
func worded(blocks string) func(*call) answer {
	return func(c *call) answer {
		return one(c.result(`{"content":[` + blocks + `],"structuredContent":{"code":"NOT_FOUND","retryable":false,"requestId":"` + c.ref() + `"},"isError":true}`))
	}
}

// prose returns a failure as one sentence without a code.
func (c *call) prose() answer {
	if c.state == whenMissing {
		return one(c.failure("There is no record with the name in the argument name. Do not send the same call again; the tool records lists the names. (ref " + c.ref() + ")"))
	}
	return one(c.failure("The arguments do not fit: " + c.wrongNames() + ". Do not send the same call again. (ref " + c.ref() + ")"))
}

// shifting returns another code every second time for the same arguments.
func (c *call) shifting() answer {
	if c.session.next("shifting "+candor.Public(string(c.arguments.Raw()), 256))%2 == 1 {
		return c.honest()
	}
	return one(c.candorFailure(candor.New(candor.CodePreconditionFailed, c.err.Message(), candor.WithTool(c.tool.name), candor.WithIssues(c.err.Details().Issues()...), candor.WithRetry(c.err.Retry()))))
}

// firstIssue drops all issues except the first.
func (c *call) firstIssue() answer {
	issues := c.err.Details().Issues()
	if len(issues) < 2 {
		return c.honest()
	}
	return one(c.candorFailure(candor.New(c.err.Code(), c.err.Message(), candor.WithTool(c.tool.name), candor.WithIssues(issues[0]))))
}
