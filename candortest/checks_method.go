package candortest

import (
	"errors"

	"github.com/candor-mcp/candor/wire"
)

var methodChecks = []check{
	{Rule: Rule{ID: "unknown-method", Level: Protocol,
		Title: "A method that the server does not have is answered with -32601 and the request's id.",
		Why:   "Clients try newer methods and fall back on this number; anything else ends their session.",
		Want:  "The JSON-RPC error -32601 with the request's id.",
		Fix:   "Answer unknown methods in the dispatcher, over HTTP with a JSON-RPC body too."},
		run: func(v *visit) ruling {
			_, r := v.refuses("candortest/no_such_method", "", methodNotFound)
			return r
		}},
	{Rule: Rule{ID: "unknown-tool", Level: Protocol,
		Title: "A tool that does not exist is answered with -32602.",
		Why:   "It is the caller's mistake and must not look like a failure of a tool.",
		Want:  "The JSON-RPC error -32602 with the request's id.",
		Fix:   "Look the tool up before anything else and refuse an unknown name as a protocol error."},
		run: func(v *visit) ruling {
			if !v.facts.offers("tools") {
				return lacking("the server offers no tools")
			}
			_, r := v.refuses("tools/call", `{"name":"candortest_no_such_tool","arguments":{}}`, invalidParams)
			return r
		}},
	{Rule: Rule{ID: "unknown-resource", Level: Protocol,
		Title: "A resource that does not exist is an error, not an empty result.",
		Why:   "Empty contents read as an empty file, and a model believes them.",
		Want:  "The error -32602 with data.uri; at 2025-11-25 -32002 is right too.",
		Fix:   "Refuse an unknown URI with the error and the URI in data."},
		run: func(v *visit) ruling {
			if !v.facts.offers("resources") {
				return lacking("the server offers no resources")
			}
			codes := []int64{invalidParams}
			if v.era == Era2025 {
				codes = append(codes, -32002)
			}
			_, r := v.refuses("resources/read", `{"uri":"candortest://no-such-resource"}`, codes...)
			return r
		}},
	{Rule: Rule{ID: "unknown-prompt", Level: Protocol,
		Title: "A prompt that does not exist is answered with -32602.",
		Why:   "An empty prompt would be sent to the model as if somebody had written it.",
		Want:  "The JSON-RPC error -32602 with the request's id.",
		Fix:   "Refuse an unknown name."},
		run: func(v *visit) ruling {
			if !v.facts.offers("prompts") {
				return lacking("the server offers no prompts")
			}
			_, r := v.refuses("prompts/get", `{"name":"candortest_no_such_prompt"}`, invalidParams)
			return r
		}},
	{Rule: Rule{ID: "bad-cursor", Level: Protocol,
		Title: "A cursor that the server did not give is answered with -32602.",
		Why:   "A client that is sent back to the first page without being told goes round for ever.",
		Want:  "The JSON-RPC error -32602 with the request's id.",
		Fix:   "Check the cursor, even if there is only one page."},
		run: func(v *visit) ruling {
			if !v.facts.offers("tools") {
				return lacking("the server offers no tools")
			}
			_, r := v.refuses("tools/list", `{"cursor":"candortest-no-such-cursor"}`, invalidParams)
			return r
		}},
	params("params-missing", "tools/call without params is refused.",
		stimulus{name: "no params", codes: refusedParams, raw: rawCall(``)},
		stimulus{name: "params null", codes: refusedParams, raw: rawCall(`,"params":null`)}),
	params("params-type", "tools/call with params of the wrong type is refused.",
		stimulus{name: "params a string", codes: refusedParams, raw: rawCall(`,"params":"text"`)},
		stimulus{name: "params an array", codes: refusedParams, raw: rawCall(`,"params":[]`)},
		stimulus{name: "no name", codes: refusedParams, raw: callWith(`{"arguments":{}}`)},
		stimulus{name: "name 5", codes: refusedParams, raw: callWith(`{"name":5,"arguments":{}}`)}),
}

// refusedParams are the error codes for a request that is JSON-RPC, or nearly, but not MCP. Over HTTP at 2026-07-28 such a
// request also disagrees with its headers.
var refusedParams = []int64{invalidRequest, invalidParams, headerMismatch}

func params(id, title string, stimuli ...stimulus) check {
	return check{Rule: Rule{ID: id, Level: Protocol, Title: title,
		Why:  "It is a malformed request, whatever the tool; a handler that is entered with nothing breaks in its own way.",
		Want: "The JSON-RPC error -32602 or -32600 with the request's id.",
		Fix:  "Decode and check params before looking for the tool."},
		run: func(v *visit) ruling { return v.refuseEach(stimuli) }}
}

// rawCall returns a tools/call request with rest after the method. It does not add the era's _meta.
func rawCall(rest string) func(*client) []byte {
	return func(c *client) []byte {
		return []byte(`{"jsonrpc":"2.0","id":` + c.id() + `,"method":"tools/call"` + rest + `}`)
	}
}

func callWith(params string) func(*client) []byte {
	return func(c *client) []byte { return c.era.request(c.id(), "tools/call", params) }
}

// refuseEach is like provokeEach for requests: each answer must be JSON-RPC and carry the id.
func (v *visit) refuseEach(stimuli []stimulus) ruling {
	c, err := v.open()
	if err != nil {
		return bad("%v", err)
	}
	for _, s := range stimuli {
		raw := s.raw(c)
		answers, dead := c.provoke(v.ctx, raw, 1)
		sent := wire.Parse(raw, wire.Limits{})
		switch problem := s.judge(answers); {
		case problem != "":
			return bad("%s: %v", s.name, errors.Join(errors.New(problem), dead))
		case dead != nil:
			return bad("%s: %v", s.name, dead)
		case answers[0].rejection():
			return bad("%s: a request was refused with HTTP %d and no JSON-RPC error", s.name, answers[0].Status)
		case !answers[0].msg.ID().Equal(sent.ID()):
			return bad("%s: the answer does not carry the request's id", s.name)
		}
	}
	return good()
}
