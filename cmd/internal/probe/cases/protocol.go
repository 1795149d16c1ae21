package cases

import (
	"bytes"
	"encoding/json"

	"github.com/candor-mcp/candor/internal/probe"
)

// protocol returns well-formed requests that any server should refuse.
func protocol() []probe.Case {
	request := func(name, method, params string, expect probe.Expect) probe.Case {
		c := probe.Case{Group: probe.GroupProtocol, Name: name, Method: method, Expect: expect}
		if params != "" {
			c.Params = json.RawMessage(params)
		}
		return c
	}
	const call = "tools/call"
	unknown := request(probe.CaseUnknownTool, call, `{"name":"zz_no_such_tool","arguments":{}}`, probe.ExpectRefusal)
	again := unknown
	again.Again = 1
	return []probe.Case{
		unknown,
		request(probe.CaseUnknownMethod, "zz/no_such_method", `{}`, probe.ExpectRefusal),
		request(probe.CaseToolsCallNoName, call, `{"arguments":{}}`, probe.ExpectRefusal),
		request(probe.CaseToolsCallNoParams, call, "", probe.ExpectRefusal),
		request(probe.CaseToolsListBadCursor, "tools/list", `{"cursor":"zz-bogus-cursor"}`, probe.ExpectAnswer),
		request(probe.CaseResourcesReadMissing, "resources/read", `{"uri":"file:///nonexistent/zz/missing.txt"}`, probe.ExpectRefusal),
		request(probe.CaseResourcesReadBadURI, "resources/read", `{"uri":"zz not a uri"}`, probe.ExpectRefusal),
		request(probe.CaseResourcesReadNoURI, "resources/read", `{}`, probe.ExpectRefusal),
		request(probe.CasePromptsGetUnknown, "prompts/get", `{"name":"zz_no_such_prompt"}`, probe.ExpectRefusal),
		request(probe.CaseSetLevelBad, "logging/setLevel", `{"level":"zz-bogus"}`, probe.ExpectRefusal),
		request(probe.CaseCompleteBadRef, "completion/complete", `{"argument":{"name":"x","value":"y"},"ref":{"name":"zz_no_such","type":"ref/prompt"}}`, probe.ExpectRefusal),
		again,
	}
}

// oversize is the size of a request that a server must accept or refuse without ending.
const oversize = 4 << 20

// misuse returns malformed messages. A server may ignore them but must stay alive.
func misuse() []probe.Case {
	raw := func(name, text string) probe.Case {
		return probe.Case{Group: probe.GroupProtocol, Name: name, Raw: []byte(text), Expect: probe.ExpectSilence}
	}
	long := append([]byte(`{"jsonrpc":"2.0","id":9008,"method":"zz/long","params":{"text":"`), bytes.Repeat([]byte("x"), oversize)...)
	return []probe.Case{
		raw(probe.CaseMalformedJSON, `{"jsonrpc":"2.0","id":9001,"method":"tools/list","params":{`),
		raw(probe.CaseNotJSONRPC, `{"id":9002,"method":"tools/list"}`),
		raw(probe.CaseNoMethod, `{"jsonrpc":"2.0","id":9003}`),
		raw(probe.CaseBatch, `[{"jsonrpc":"2.0","id":9004,"method":"ping"},{"jsonrpc":"2.0","id":9005,"method":"zz/none"}]`),
		raw(probe.CaseParamsArray, `{"jsonrpc":"2.0","id":9006,"method":"tools/call","params":[1,2]}`),
		raw(probe.CaseNullMessage, `null`),
		{Group: probe.GroupLiveness, Name: probe.CaseOversize, Raw: append(long, `"}}`...), Expect: probe.ExpectSilence},
		{Group: probe.GroupLiveness, Name: probe.CaseDuplicateID, Method: "ping", Params: json.RawMessage(`{}`), Expect: probe.ExpectSilence},
		{Group: probe.GroupLiveness, Name: probe.CaseCancel, Method: "ping", Params: json.RawMessage(`{}`), Expect: probe.ExpectSilence},
	}
}
