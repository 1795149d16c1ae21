package candortest

import (
	"strings"

	"github.com/candor-mcp/candor/wire"
)

var failureChecks = []check{
	{Rule: Rule{ID: "failure-is-error", Level: Protocol, Needs: needsFailing,
		Title: "A tool that fails answers with a result whose isError is true.",
		Why:   "A failure that looks like a success is believed by the model and counted as a success everywhere else.",
		Want:  "A result with isError true; not a JSON-RPC error, not a success with the text of an error.",
		Fix:   "Return the tool's error as a result with isError."},
		run: failureIsError},
	{Rule: Rule{ID: "failure-text", Level: Manners, Needs: needsFailing,
		Title: "The first block of a failing tool's result is a text that says something.",
		Why:   "Some clients show only the first block; an empty one reaches the model as nothing.",
		Want:  "content[0] of the type text, not blank.",
		Fix:   "Put what went wrong into the first block."},
		run: func(v *visit) ruling {
			return v.eachFailure(toolError, func(f failure) string {
				first := f.msg.Result().Path("content", 0)
				text, _ := first.Path("text").Str()
				if !first.Path("type").Is("text") || strings.TrimSpace(text) == "" {
					return "content[0] is not a text that says something"
				}
				return ""
			})
		}},
	{Rule: Rule{ID: "failure-structured-content", Level: Protocol, Needs: needsFailing,
		Title: "structuredContent of a failure is absent, or fits the tool's outputSchema.",
		Why:   "Clients that validate it replace the real error by one about the schema.",
		Want:  "No structuredContent, or one that fits.",
		Fix:   "Put structured errors into _meta where the tool has an outputSchema."},
		run: structuredContent},
	{Rule: Rule{ID: "result-type", Level: Protocol, Eras: []Era{Era2026},
		Title: "Every result has a resultType.",
		Why:   "The schema of 2026-07-28 requires it; without it a complete result looks like one that asks for input.",
		Want:  `"resultType":"complete" in tools/list and in results with isError.`,
		Fix:   "Set it where results are written, errors included."},
		run: opened(resultType)},
	{Rule: Rule{ID: "panic-survived", Level: Manners, Needs: needsPanicking,
		Title: "A tool that crashes is answered with an error, and the server lives on.",
		Why:   "One bad call otherwise ends the session of every client.",
		Want:  "A result with isError or the error -32603 with the request's id, and answers to later requests.",
		Fix:   "Catch panics and exceptions around every tool."},
		run: opened(panicSurvived)},
}

func failureIsError(v *visit) ruling {
	if len(v.tour.o.Failing) == 0 {
		return lacking("it needs %s", needsFailing)
	}
	c, err := v.open()
	if err != nil {
		return bad("%v", err)
	}
	for _, failing := range v.tour.o.Failing {
		answer, err := c.call(v.ctx, "tools/call", failing.params())
		switch {
		case err != nil:
			return bad("%s: the call was not answered: %v", failing.Tool, err)
		case answer.msg.Shape() != wire.KindResult:
			return bad("%s: the failure is reported as a protocol error", failing.Tool)
		case !answer.isError():
			return bad("%s: the result does not say isError", failing.Tool)
		}
		if err := c.survives(v.ctx); err != nil {
			return bad("%s: %v", failing.Tool, err)
		}
	}
	return good()
}

func structuredContent(v *visit) ruling {
	return v.eachFailure(toolError, func(f failure) string {
		content, has := f.msg.Result().Get("structuredContent")
		request := wire.Parse(f.request, wire.Limits{})
		name, _ := request.Params().Path("name").Str()
		t, _ := v.facts.tool(name)
		if !has || t.output == nil {
			return ""
		}
		if wrong := t.output.misfit(content); wrong != "" {
			return "structuredContent breaks the outputSchema: " + wrong
		}
		return ""
	})
}

func resultType(v *visit, c *client) ruling {
	listed, err := c.call(v.ctx, "tools/list", "")
	if err == nil && listed.msg.Shape() == wire.KindResult && !listed.msg.Result().Path("resultType").Present() {
		return bad("the result of tools/list has none")
	}
	r := v.eachFailure(toolError, when(`the result has no resultType "complete"`, func(f failure) bool { return !f.msg.Result().Path("resultType").Is("complete") }))
	return ruling{failed: r.failed} // without a failing tool only the result of the list counts
}

func panicSurvived(v *visit, c *client) ruling {
	answer, err := c.call(v.ctx, "tools/call", v.tour.o.Panicking.params())
	switch {
	case err != nil:
		return bad("the call was not answered: %v", err)
	case !answer.failed():
		return bad("the crash is not reported as a failure")
	}
	return c.alive(v)
}
