package candortest

import (
	"errors"

	"github.com/candor-mcp/candor/wire"
)

var methodChecks = []check{
	unknown("unknown-method", "", "A method that the server does not have is answered with -32601 and the request's id.",
		"Clients try newer methods and fall back on this number; anything else ends their session.",
		"The JSON-RPC error -32601 with the request's id.",
		"Answer unknown methods in the dispatcher, over HTTP with a JSON-RPC body too.",
		"candortest/no_such_method", "", methodNotFound),
	unknown("unknown-tool", "tools", "A tool that does not exist is answered with -32602.",
		"It is the caller's mistake and must not look like a failure of a tool.",
		"The JSON-RPC error -32602 with the request's id.",
		"Look the tool up before anything else and refuse an unknown name as a protocol error.",
		"tools/call", `{"name":"candortest_no_such_tool","arguments":{}}`, invalidParams),
	unknown("unknown-resource", "resources", "A resource that does not exist is an error, not an empty result.",
		"Empty contents read as an empty file, and a model believes them.",
		"The error -32602 with data.uri; at 2025-11-25 -32002 is right too.",
		"Refuse an unknown URI with the error and the URI in data.",
		"resources/read", `{"uri":"candortest://no-such-resource"}`, invalidParams, -32002),
	unknown("unknown-prompt", "prompts", "A prompt that does not exist is answered with -32602.",
		"An empty prompt would be sent to the model as if its author had written it.",
		"The JSON-RPC error -32602 with the request's id.",
		"Refuse an unknown name.",
		"prompts/get", `{"name":"candortest_no_such_prompt"}`, invalidParams),
	unknown("bad-cursor", "tools", "A cursor that the server did not give is answered with -32602.",
		"A client that is sent back to the first page without notice never reaches the end.",
		"The JSON-RPC error -32602 with the request's id.",
		"Check the cursor, even if there is only one page.",
		"tools/list", `{"cursor":"candortest-no-such-cursor"}`, invalidParams),
	params("params-missing", "tools/call without params is refused.",
		stimulus{name: "no params", codes: refusedParams, raw: rawCall(``)},
		stimulus{name: "params null", codes: refusedParams, raw: rawCall(`,"params":null`)}),
	params("params-type", "tools/call with params of the wrong type is refused.",
		stimulus{name: "params a string", codes: refusedParams, raw: rawCall(`,"params":"text"`)},
		stimulus{name: "params an array", codes: refusedParams, raw: rawCall(`,"params":[]`)},
		stimulus{name: "no name", codes: refusedParams, raw: callWith(`{"arguments":{}}`)},
		stimulus{name: "name 5", codes: refusedParams, raw: callWith(`{"name":5,"arguments":{}}`)}),
}

// unknown returns a check that requires one of the codes for a request. The last of several codes is only allowed in Era2025.
func unknown(id, capability, title, why, want, fix, method, params string, codes ...int64) check {
	return check{Rule: Rule{ID: id, Level: Protocol, Title: title, Why: why, Want: want, Fix: fix},
		run: func(v *visit) ruling {
			if capability != "" && !v.facts.offers(capability) {
				return lacking("the server offers no %s", capability)
			}
			allowed := codes
			if v.era != Era2025 {
				allowed = codes[:1]
			}
			return opened(func(v *visit, c *client) ruling { return c.refuses(v, method, params, allowed...) })(v)
		}}
}

// refusedParams are the error codes for a request that is JSON-RPC, or nearly, but not MCP. Over HTTP at 2026-07-28 such a
// request also disagrees with its headers.
var refusedParams = []int64{invalidRequest, invalidParams, headerMismatch}

func params(id, title string, stimuli ...stimulus) check {
	return check{Rule: Rule{ID: id, Level: Protocol, Title: title,
		Why:  "It is a malformed request, whatever the tool; a handler that is entered with nothing breaks in its own way.",
		Want: "The JSON-RPC error -32602 or -32600 with the request's id.",
		Fix:  "Decode and check params before looking for the tool."},
		run: opened(func(v *visit, c *client) ruling { return c.refuseEach(v, stimuli) })}
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
func (c *client) refuseEach(v *visit, stimuli []stimulus) ruling {
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
