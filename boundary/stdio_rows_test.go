package boundary

import (
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/playwright"
)

// era is a version of the protocol as the client of a row uses it.
type era struct {
	name     string
	preamble []string // lines that open the session
	meta     string   // the _meta member of each request
}

var eras = []era{
	{name: "2025-11-25", preamble: []string{
		`{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{}},"clientInfo":{"name":"t","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
	}},
	{name: "2026-07-28", meta: `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`},
}

// say replaces the placeholders for the era's params: $M after other members, $m as the only one.
func (e era) say(line string) string {
	after := ""
	if e.meta != "" {
		after = "," + e.meta
	}
	return strings.NewReplacer("$M", after, "$m", e.meta).Replace(line)
}

// alive is sent at the end of every row and must be answered.
const alive = `{"jsonrpc":"2.0","id":"alive","method":"tools/list","params":{$m}}`

// row is one kind of failure in a session, and the expected answer.
type row struct {
	name   string
	only   string // the era to which the row applies; "" means both
	before bool   // sent without the lines that open the session
	send   string
	id     string // the id token of the answer; "" for an answer without one
	code   candor.Code
	number int  // number of the JSON-RPC error; 0 for a result with isError
	silent bool // must not be answered, but recorded, counted and counted as suppressed
	limit  int  // Options.MaxMessage
}

func callRow(tool, arguments string) string {
	return `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + arguments + `$M}}`
}

// matrix lists the rows of the stdio matrix and the kinds of malformed lines.
var matrix = []row{
	{name: "plain error of a typed tool", send: callRow("typed", `{"path":"fire","mode":"r"}`), id: "7", code: candor.CodeInternalError},
	{name: "plain error of a raw tool", send: callRow("plain", `{}`), id: "7", code: candor.CodeInternalError},
	{name: "a raw tool returns nothing", send: callRow("nothing", `{}`), id: "7", code: candor.CodeEmptyResult},
	{name: "panic", send: callRow("panics", `{}`), id: "7", code: candor.CodeInternalError},
	{name: "JSON-RPC error with data", send: callRow("rpc", `{}`), id: "7", code: playwright.Nav, number: 2100},
	{name: "coded error", send: callRow("coded", `{}`), id: "7", code: candor.CodeRateLimited},
	{name: "unknown tool", send: callRow("nope", `{}`), id: "7", code: candor.CodeToolNotFound, number: -32602},
	{name: "unknown method", send: `{"jsonrpc":"2.0","id":7,"method":"foo/bar","params":{$m}}`, id: "7", code: candor.CodeMethodNotFound, number: -32601},
	{name: "four violations of the schema", send: callRow("typed", `{"mode":"x","n":"y","pth":1}`), id: "7", code: candor.CodeInvalidArguments},
	{name: "arguments are a text", send: callRow("typed", `"hello"`), id: "7", code: candor.CodeInvalidArguments},
	{name: "name of the wrong type", send: `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":5$M}}`, id: "7", code: candor.CodeInvalidRequestParams, number: -32602},
	{name: "params missing", only: "2025-11-25", send: `{"jsonrpc":"2.0","id":7,"method":"tools/call"}`, id: "7", code: candor.CodeInvalidRequestParams, number: -32600},
	{name: "params null", only: "2025-11-25", send: `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":null}`, id: "7", code: candor.CodeInvalidRequestParams, number: -32600},
	{name: "params are a number", only: "2025-11-25", send: `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":5}`, id: "7", code: candor.CodeInvalidRequestParams, number: -32602},
	{name: "params are an array", only: "2025-11-25", send: `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":[]}`, id: "7", code: candor.CodeInvalidRequestParams, number: -32602},
	{name: "output against its schema", send: callRow("promises", `{}`), id: "7", code: candor.CodeOutputInvalid},
	{name: "output is NaN", send: callRow("nan", `{}`), id: "7", code: candor.CodeResultNotEncodable},
	{name: "result cannot be written", send: callRow("unwritable", `{}`), id: "7", code: candor.CodeResultNotEncodable},
	{name: "unknown resource", send: `{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":"file:///missing"$M}}`, id: "7", code: candor.CodeResourceNotFound, number: -32602},
	{name: "resource handler fails", send: `{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":"file:///broken"$M}}`, id: "7", code: candor.CodeInternalError, number: -32603},
	{name: "unknown prompt", send: `{"jsonrpc":"2.0","id":7,"method":"prompts/get","params":{"name":"zzz"$M}}`, id: "7", code: candor.CodePromptNotFound, number: -32602},
	{name: "prompt handler fails", send: `{"jsonrpc":"2.0","id":7,"method":"prompts/get","params":{"name":"broken"$M}}`, id: "7", code: candor.CodeInternalError, number: -32603},
	{name: "bad cursor", send: `{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"cursor":"zzz"$M}}`, id: "7", code: candor.CodeInvalidCursor, number: -32602},
	{name: "completion is not supported", send: `{"jsonrpc":"2.0","id":7,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"broken"},"argument":{"name":"a","value":"b"}$M}}`, id: "7", code: candor.CodeMethodNotFound, number: -32601},
	{name: "before initialize", only: "2025-11-25", before: true, send: callRow("fine", `{}`), id: "7", code: candor.CodeNotInitialized, number: -32600},
	{name: "initialize twice", only: "2025-11-25", send: `{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, id: "7", code: candor.CodeInvalidRequest, number: -32600},
	{name: "version nobody speaks", only: "2026-07-28", send: `{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2099-01-01","io.modelcontextprotocol/clientCapabilities":{}}}}`, id: "7", code: candor.CodeProtocolVersionUnsupported, number: -32022},
	{name: "capabilities missing", only: "2026-07-28", send: `{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`, id: "7", code: candor.CodeInvalidRequestParams, number: -32602},
	{name: "client info of the wrong type", only: "2026-07-28", send: `{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":5,"io.modelcontextprotocol/clientCapabilities":{}}}}`, id: "7", code: candor.CodeInvalidRequestParams, number: -32602},
	{name: "ping was removed", only: "2026-07-28", send: `{"jsonrpc":"2.0","id":7,"method":"ping","params":{$m}}`, id: "7", code: candor.CodeMethodNotFound, number: -32601},
	{name: "discover is not there yet", only: "2025-11-25", send: `{"jsonrpc":"2.0","id":7,"method":"server/discover"}`, id: "7", code: candor.CodeMethodNotFound, number: -32601},

	{name: "not JSON", send: `hello world`, code: candor.CodeParseError, number: -32700},
	{name: "truncated", send: `{"jsonrpc":"2.0","id":7,"method":`, code: candor.CodeParseError, number: -32700},
	{name: "two messages in a line", send: `{"jsonrpc":"2.0","id":7,"method":"ping"}{"jsonrpc":"2.0","id":8,"method":"ping"}`, code: candor.CodeParseError, number: -32700},
	{name: "bytes that are no UTF-8", send: "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"pi\xffng\"}", code: candor.CodeParseError, number: -32700},
	{name: "control character in a text", send: "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"pi\x01ng\"}", code: candor.CodeParseError, number: -32700},
	{name: "null", send: `null`, code: candor.CodeInvalidRequest, number: -32600},
	{name: "number", send: `5`, code: candor.CodeInvalidRequest, number: -32600},
	{name: "text", send: `"tools/list"`, code: candor.CodeInvalidRequest, number: -32600},
	{name: "empty object", send: `{}`, code: candor.CodeInvalidRequest, number: -32600},
	{name: "empty batch", send: `[]`, code: candor.CodeBatchUnsupported, number: -32600},
	{name: "batch", send: `[{"jsonrpc":"2.0","id":7,"method":"ping"},{"jsonrpc":"2.0","id":8,"method":"ping"}]`, code: candor.CodeBatchUnsupported, number: -32600},
	{name: "no version", send: `{"id":7,"method":"ping"}`, id: "7", code: candor.CodeInvalidRequest, number: -32600},
	{name: "version of another protocol", send: `{"jsonrpc":"1.0","id":"x","method":"ping"}`, id: `"x"`, code: candor.CodeInvalidRequest, number: -32600},
	{name: "method is a number", send: `{"jsonrpc":"2.0","id":7,"method":5}`, id: "7", code: candor.CodeInvalidRequest, number: -32600},
	{name: "method is a number and there is no id", send: `{"jsonrpc":"2.0","method":5}`, code: candor.CodeInvalidRequest, number: -32600},
	{name: "id is a boolean", send: `{"jsonrpc":"2.0","id":true,"method":"ping"}`, code: candor.CodeInvalidRequest, number: -32600},
	{name: "id is an object", send: `{"jsonrpc":"2.0","id":{},"method":"ping"}`, code: candor.CodeInvalidRequest, number: -32600},
	{name: "id is an array", send: `{"jsonrpc":"2.0","id":[1],"method":"ping"}`, code: candor.CodeInvalidRequest, number: -32600},
	{name: "id is null", send: `{"jsonrpc":"2.0","id":null,"method":"ping"}`, code: candor.CodeInvalidRequest, number: -32600},
	{name: "method twice", send: `{"jsonrpc":"2.0","id":7,"method":"ping","method":"tools/call"}`, id: "7", code: candor.CodeInvalidRequest, number: -32600},
	{name: "id twice", send: `{"jsonrpc":"2.0","id":7,"id":8,"method":"ping"}`, code: candor.CodeInvalidRequest, number: -32600},
	{name: "argument twice", send: callRow("fine", `{"a":1,"a":2}`), id: "7", code: candor.CodeInvalidRequest, number: -32600},
	{name: "request and answer at once", send: `{"jsonrpc":"2.0","id":7,"method":"ping","result":{}}`, id: "7", code: candor.CodeInvalidRequest, number: -32600},
	{name: "too deep", send: `{"jsonrpc":"2.0","id":7,"method":"ping","params":{"a":` + strings.Repeat("[", 1001) + strings.Repeat("]", 1001) + `}}`, id: "7", code: candor.CodeMessageTooDeep, number: -32600},
	{name: "too large", limit: 4000, send: `{"jsonrpc":"2.0","id":7,"method":"ping","params":{"a":"` + strings.Repeat("x", 5000) + `"}}`, id: "7", code: candor.CodeMessageTooLarge, number: -32600},
	{name: "too large with the id at the end", limit: 4000, send: `{"jsonrpc":"2.0","method":"ping","params":{"a":"` + strings.Repeat("x", 5000) + `"},"id":7}`, id: "7", code: candor.CodeMessageTooLarge, number: -32600},
	{name: "notification with an id", send: `{"jsonrpc":"2.0","id":7,"method":"notifications/cancelled","params":{"requestId":1}}`, id: "7", code: candor.CodeInvalidRequest, number: -32600},

	{name: "notification without version", send: `{"method":"notifications/initialized"}`, code: candor.CodeInvalidRequest, silent: true},
	{name: "notification with a name twice", send: `{"jsonrpc":"2.0","method":"notifications/x","params":{"a":1,"a":2}}`, code: candor.CodeInvalidRequest, silent: true},
	{name: "request without id", send: `{"jsonrpc":"2.0","method":"tools/call","params":{"name":"fine"$M}}`, code: candor.CodeInvalidRequest, silent: true},
	{name: "progress without progress", send: `{"jsonrpc":"2.0","method":"notifications/progress","params":{}}`, code: candor.CodeInvalidRequestParams, silent: true},
	{name: "large notification", limit: 4000, send: `{"jsonrpc":"2.0","method":"notifications/x","params":{"a":"` + strings.Repeat("x", 5000) + `"}}`, code: candor.CodeMessageTooLarge, silent: true},
	{name: "answer without id", send: `{"jsonrpc":"2.0","result":{}}`, code: candor.CodeInvalidRequest, silent: true},
	{name: "answer with result and error", send: `{"jsonrpc":"2.0","id":7,"result":{},"error":{"code":1,"message":"m"}}`, code: candor.CodeInvalidRequest, silent: true},
	{name: "answer with an error that is a text", send: `{"jsonrpc":"2.0","id":7,"error":"no"}`, code: candor.CodeInvalidRequest, silent: true},
}
