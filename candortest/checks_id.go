package candortest

import "github.com/candor-mcp/candor/wire"

var idChecks = []check{
	echo("id-echo", false, "An answer carries the id of its request: the same string or the same number.",
		"A client finds the caller by the id; 1 and \"1\" are different callers.",
		`1`, `"1"`, `0`, `-7`, `""`, `"candor ü\n\"quoted\""`),
	echo("id-large-integer", true, "An id beyond 2^53 comes back digit by digit, or is refused with -32600.",
		"A number that went through a float64 names another call, or none.",
		`9007199254740993`),
	echo("id-fractional", true, "An id with a fraction comes back as it was, or is refused with -32600.",
		"An id that is cut to an integer answers another call.",
		`1.5`),
	{Rule: Rule{ID: "duplicate-id", Level: Manners, Needs: needsSlow,
		Title: "A second request with the id of one that is still open is not lost.",
		Why:   "A call that is silently dropped keeps its caller waiting forever.",
		Want:  "An error -32600 for the second, or two answers.",
		Fix:   "Keep the ids that are open, and refuse one that is used twice."},
		on: overLines, run: opened(duplicateID)},
}

func echo(id string, mayRefuse bool, title, why string, ids ...string) check {
	return check{Rule: Rule{ID: id, Level: Protocol, Title: title, Why: why,
		Want: "The request's id, byte for byte.",
		Fix:  "Keep the id as the bytes it came in, and write them back."},
		run: opened(func(v *visit, c *client) ruling { return echoes(v, c, mayRefuse, ids) })}
}

func echoes(v *visit, c *client, mayRefuse bool, ids []string) ruling {
	for _, id := range ids {
		answers, dead := c.provoke(v.ctx, c.era.probe(id), 1)
		if dead != nil {
			return bad("id %s: %v", id, dead)
		}
		if len(answers) != 1 {
			return bad("id %s: %d answers came back", id, len(answers))
		}
		a := answers[0]
		code, _ := a.code()
		if refused := a.rejection() || code == invalidRequest; !(refused && mayRefuse) && !a.msg.ID().Equal(wire.ID(id)) {
			return bad("the answer to the id %s carries the id %s", id, show(a.msg.ID()))
		}
	}
	return good()
}

func duplicateID(v *visit, c *client) ruling {
	raw, id := c.request("tools/call", v.tour.o.Slow.params())
	if err := c.send(v.ctx, raw); err != nil {
		return bad("%v", err)
	}
	second := c.era.probe(id)
	answers, dead := c.provoke(v.ctx, second, 1)
	if dead != nil {
		return bad("%v", dead)
	}
	for _, a := range answers {
		if a.msg.ID() == nil || a.msg.ID().Equal(wire.ID(id)) {
			return good()
		}
	}
	return bad("the second request was never answered")
}
