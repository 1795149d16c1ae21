package candortest

import (
	"strings"

	"github.com/candor-mcp/candor/wire"
)

const (
	needsTool      = "Options.Tools, or a tool marked readOnlyHint"
	needsFailing   = "Options.Failing"
	needsPanicking = "Options.Panicking"
	needsSlow      = "Options.Slow"
)

var argumentChecks = []check{
	{Rule: Rule{ID: "arguments-type", Level: Protocol, Needs: needsTool,
		Title: "Arguments that are not an object are refused.",
		Why:   "A handler that is entered with a string where an object belongs breaks in its own way, or does something that was not asked for.",
		Want:  "The error -32602, or a result with isError.",
		Fix:   "Check the type of arguments before the tool is entered."},
		run: argumentsType},
	refusal("missing-required", "A call without a required argument is refused.", withoutRequired, "no tool has a required argument"),
	refusal("wrong-type", "A call with an argument of the wrong type is refused.", withWrongType, "no tool declares the type of an argument"),
	refusal("unknown-argument", "A call with an argument that the schema forbids is refused.", withUnknownKey, "no tool has additionalProperties false"),
	{Rule: Rule{ID: "violation-channel", Level: Protocol, Needs: needsTool,
		Title: "Arguments that break the schema are reported in a result with isError, not as a protocol error (SEP-1303).",
		Why:   "Clients show results to the model, which can correct its call; they may hide protocol errors.",
		Want:  "A result with isError true.",
		Fix:   "Turn validation errors into tool results."},
		run: func(v *visit) ruling {
			if v.facts.older("2025-11-25") {
				return lacking("version %s does not have this rule yet", v.facts.version)
			}
			return v.eachRefused(withoutRequired, func(_ violation, a said) string {
				if !a.isError() {
					return "the call was refused with a protocol error"
				}
				return ""
			})
		}},
	{Rule: Rule{ID: "violation-names-field", Level: Manners, Needs: needsTool,
		Title: "The refusal of wrong arguments names the argument.",
		Why:   "\"Invalid input\" makes a model guess; a name lets it correct the call at once.",
		Want:  "A text that holds the name of the argument.",
		Fix:   "Put the path of each failing argument into the text."},
		run: func(v *visit) ruling {
			return v.eachRefused(withWrongType, func(b violation, a said) string {
				if len(b.unnamed(a)) > 0 {
					return "the text does not name the argument " + strings.Join(b.unnamed(a), ", ")
				}
				return ""
			})
		}},
	{Rule: Rule{ID: "all-violations", Level: Manners, Needs: needsTool,
		Title: "The refusal of several wrong arguments names all of them.",
		Why:   "One at a time costs a model one call each, and looks to it as if it got nowhere.",
		Want:  "A text that holds the name of every wrong argument.",
		Fix:   "Use a validator that goes on after the first error."},
		run: func(v *visit) ruling {
			return v.eachRefused(withSeveral, func(b violation, a said) string {
				if missing := b.unnamed(a); len(missing) > 0 {
					return "the text does not name the arguments " + strings.Join(missing, ", ")
				}
				return ""
			})
		}},
}

func refusal(id, title string, way func(schema, Call) (violation, bool), lack string) check {
	return check{Rule: Rule{ID: id, Level: Protocol, Title: title, Needs: needsTool,
		Why:  "Servers must check what comes in; a call that goes through does something else than was asked.",
		Want: "A result with isError, or the error -32602.",
		Fix:  "Validate arguments against the schema that tools/list shows."},
		run: func(v *visit) ruling { return v.refusesViolations(way, lack) }}
}

func (v *visit) refusesViolations(way func(schema, Call) (violation, bool), lack string) ruling {
	broken := v.violations(way)
	if len(broken) == 0 {
		return lacking("it needs %s: %s", needsTool, lack)
	}
	c, err := v.open()
	if err != nil {
		return bad("%v", err)
	}
	for _, b := range broken {
		answer, err := c.call(v.ctx, "tools/call", b.params())
		if err != nil {
			return bad("%s: the call was not answered: %v", b.Tool, err)
		}
		if !answer.failed() && !answer.rejection() {
			return bad("%s: the call was carried out", b.Tool)
		}
	}
	return good()
}

// eachRefused judges the answers to broken calls that the server refuses. Calls that it accepts are covered by another check.
func (v *visit) eachRefused(way func(schema, Call) (violation, bool), judge func(violation, said) string) ruling {
	var c *client
	judged := false
	for _, b := range v.violations(way) {
		var err error
		if c, err = v.again(c); err != nil {
			return bad("%v", err)
		}
		answer, err := c.call(v.ctx, "tools/call", b.params())
		if err != nil {
			c = nil
			continue
		}
		if !answer.failed() {
			continue
		}
		judged = true
		if problem := judge(b, answer); problem != "" {
			return bad("%s: %s", b.Tool, problem)
		}
	}
	if !judged {
		return lacking("no call with such arguments was refused; it needs %s", needsTool)
	}
	return good()
}

func argumentsType(v *visit) ruling {
	calls := v.mayCall()
	if len(calls) == 0 {
		return lacking("it needs %s", needsTool)
	}
	c, err := v.open()
	if err != nil {
		return bad("%v", err)
	}
	for _, args := range []string{`"hello"`, `5`, `["hello"]`} {
		answer, err := c.call(v.ctx, "tools/call", Call{calls[0].Tool, args}.params())
		switch {
		case err != nil:
			return bad("arguments %s: the call was not answered: %v", args, err)
		case answer.rejection():
			return bad("arguments %s: a request was refused with HTTP %d and no JSON-RPC error", args, answer.Status)
		case !answer.failed():
			return bad("arguments %s: the call was carried out", args)
		case answer.msg.Shape() == wire.KindError && wrongCode(answer, refusedParams) != "":
			return bad("arguments %s: %s", args, wrongCode(answer, refusedParams))
		}
		if err := c.survives(v.ctx); err != nil {
			return bad("arguments %s: %v", args, err)
		}
	}
	return good()
}
