package candortest

import (
	"strings"

	"github.com/candor-mcp/candor/wire"
)

var silenceChecks = []check{
	quiet("notification-silent", "A notification is never answered.",
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"candortest-none"}}`,
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"candortest-none","progress":1}}`),
	quiet("unknown-notification-silent", "A notification that the server does not know is not answered either.",
		`{"jsonrpc":"2.0","method":"notifications/candortest_unknown"}`,
		`{"jsonrpc":"2.0","method":"candortest/unknown","params":{}}`),
	quiet("stray-response-silent", "A response to a request that the server never made is ignored.",
		`{"jsonrpc":"2.0","id":"candortest-stray","result":{}}`,
		`{"jsonrpc":"2.0","id":"candortest-stray","error":{"code":-32603,"message":"stray"}}`),
	{Rule: Rule{ID: "cancelled-silent", Level: Protocol, Needs: needsSlow,
		Title: "A request that was cancelled is not answered.",
		Why:   "The client has forgotten it; an answer is a stray, and with a reused id a wrong one.",
		Want:  "Silence for that id, and answers to the others.",
		Fix:   "Drop the answer of a cancelled call where answers are written."},
		on: overLines, run: opened(cancelledSilent)},
}

func quiet(id, title string, messages ...string) check {
	return check{Rule: Rule{ID: id, Level: Protocol, Title: title,
		Why:  "No caller waits for such an answer; a client takes it for another call's, or ends the connection.",
		Want: "Nothing; over HTTP 202 without a body, or a 4xx status.",
		Fix:  "Answer only requests with an id; do not send an error either."},
		run: opened(func(v *visit, c *client) ruling { return staysQuiet(v, c, messages) })}
}

func staysQuiet(v *visit, c *client, messages []string) ruling {
	for _, message := range messages {
		answers, dead := c.provoke(v.ctx, []byte(message), 0)
		if dead != nil {
			return bad("%v", dead)
		}
		for _, a := range answers {
			if a.Status >= 500 || a.Status < 400 {
				return bad("the server answered")
			}
		}
	}
	return good()
}

func cancelledSilent(v *visit, c *client) ruling {
	raw, id := c.request("tools/call", v.tour.o.Slow.params())
	if err := c.send(v.ctx, raw); err != nil {
		return bad("%v", err)
	}
	if err := c.survives(v.ctx); err != nil { // the call has probably begun by now
		return bad("while a call was open: %v", err)
	}
	cancel := strings.Replace(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":ID,"reason":"candortest"}}`, "ID", id, 1)
	answers, dead := c.provoke(v.ctx, []byte(cancel), 0)
	if dead != nil {
		return bad("%v", dead)
	}
	for _, a := range answers {
		if a.msg.ID().Equal(wire.ID(id)) {
			return bad("the cancelled call was answered")
		}
	}
	return good()
}
