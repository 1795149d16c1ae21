package zoo

import (
	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/argerror"
	"github.com/candor-mcp/candor/internal/probe"
	"github.com/candor-mcp/candor/internal/wireflaw"
)

// oversizeDeath is the length of a message that ends a server with the defect oversize-dies.
const oversizeDeath = 1 << 20

// wide are the defects that belong to no tool. Of those that share a case only the first is active.
func wide() []implementation {
	defect := func(id, title, about, rule string, cases ...string) implementation {
		return implementation{Defect: Defect{ID: id, Title: title, About: about, Rule: rule, Cases: cases}}
	}
	return []implementation{
		defect("unknown-tool-result", "isError for an unknown tool", "A tool that does not exist is answered with a result that says isError.", "EC005", probe.CaseUnknownTool),
		defect("unknown-method-ok", "an unknown method succeeds", "A method that does not exist is answered with an empty result.", "EC036", probe.CaseUnknownMethod),
		defect("retired-number", "a retired number", "A missing resource is reported with the number -32002, which version 2026-07-28 forbids.", "EC009", probe.CaseResourcesReadMissing, probe.CaseResourcesReadBadURI),
		defect("resource-zero", "the number 0 for a resource", "A missing resource is reported with the number 0.", "EC006", probe.CaseResourcesReadMissing, probe.CaseResourcesReadBadURI),
		defect("resource-empty", "a missing resource succeeds", "A missing resource is answered with no contents.", "EC036", probe.CaseResourcesReadMissing, probe.CaseResourcesReadBadURI),
		defect("level-ignored", "a wrong level succeeds", "Before 2026-07-28 a log level that does not exist is answered with an empty result.", "EC036", probe.CaseSetLevelBad),
		defect("malformed-silent", "no answer to invalid JSON", "A line that is not JSON is not answered.", "EC047", probe.CaseMalformedJSON),
		defect("malformed-null-id", "the id null", "A line that is not JSON is answered with the id null, which MCP forbids.", "EC048", probe.CaseMalformedJSON),
		defect("malformed-dies", "invalid JSON ends the server", "A line that is not JSON ends the server.", "EC021", probe.CaseMalformedJSON),
		defect("oversize-dies", "a long message ends the server", "A message of more than 1 MiB ends the server.", "EC021", probe.CaseOversize),
		defect("batch-odd", "a batch is partly answered", "Only the first request of a batch is answered.", "EC049", probe.CaseBatch),
		defect("http-ok", "HTTP 200 for every error", "Over HTTP at 2026-07-28 an unknown method has the status 200 instead of 404.", "EC027", probe.CaseUnknownMethod),
		defect("http-500", "HTTP 500 for every error", "Over HTTP any JSON-RPC error has the status 500.", "EC027", probe.CaseUnknownMethod, probe.CaseUnknownTool),
		defect("banner", "prints at the start", "Over stdio the first line is a greeting, not a message.", "EC029"),
	}
}

// unknownTool answers a call of a tool that does not exist.
func (c *call) unknownTool(name string) answer {
	e := argerror.UnknownTool(name, c.zoo.toolNames(), candor.PartyServer)
	if c.zoo.wide["unknown-tool-result"] {
		c.tool = &tool{}
		return one(c.candorFailure(e))
	}
	return one(c.refuse(e))
}

// unknownMethod answers a method that does not exist.
func (c *call) unknownMethod() answer {
	if c.zoo.wide["unknown-method-ok"] {
		return one(c.result(`{}`))
	}
	return one(c.refuse(candor.New(candor.CodeMethodNotFound, "", candor.WithOrigin(candor.PartyServer, false))))
}

// malformed answers a line that is not a message.
func (c *call) malformed() answer {
	if units, ok := c.message.SplitBatch(); ok && len(units) > 0 && c.zoo.wide["batch-odd"] {
		a, _ := c.zoo.receive(c.ctx, c.session, units[0])
		return a
	}
	flaw := c.message.Malformation()
	e := argerror.Flaw(flaw, candor.PartyServer)
	frame := without(c.refuse(e), "id")
	if id := argerror.AnswerID(&c.message, e.Code()); id != nil {
		frame = edited(frame, string(id), "id")
	}
	switch unread := flaw.Flaw == wireflaw.NotJSON || flaw.Flaw == wireflaw.Truncated; {
	case unread && c.zoo.wide["malformed-silent"]:
		return answer{}
	case unread && c.zoo.wide["malformed-null-id"]:
		return one(edited(frame, "null", "id"))
	case unread && c.zoo.wide["malformed-dies"]:
		return answer{dies: true}
	default:
		return one(frame)
	}
}
