package rules_test

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/probe"
)

type ruleCase struct {
	rule      string
	bad, near scene
}

func canonical(code candor.Code, message string) string {
	e := candor.New(code, message, candor.WithRef("r-1"))
	return strings.TrimSuffix(strings.TrimPrefix(string(dialect.Must("candor").Write(nil, e, dialect.Options{ID: []byte("7"), Response: true})), `{"jsonrpc":"2.0","id":7,`), "}")
}

// ruleTable is long because there are many rules.
func ruleTable() []ruleCase {
	named := good("INVALID", "query is missing", "")
	long := strings.Repeat("x", 9<<10)
	return []ruleCase{
		{"EC001",
			one(absent(text(false, "NOT_FOUND: Error: no such page"))),
			one(absent(text(false, "Nothing was found for zz.")), absent(good("X", "no such page", "")))},
		{"EC002",
			one(absent(text(false, notOK))),
			one(absent(text(false, `{"ok":true,"errors_seen":0}`)), absent(good("X", "no such page", "")))},
		{"EC003",
			one(absent(good("GONE", "no such page", "")), missing(text(true, "INVALID_QUERY: query is missing"))),
			one(absent(good("GONE", "no such page", "")), missing(named), invalid(probe.CaseArgsArray, "", rpc(-32602, "arguments must be an object")))},
		{"EC004",
			one(missing(rpc(-32602, "query is missing"))),
			one(invalid(probe.CaseArgsString, "", rpc(-32602, "arguments must be an object")))},
		{"EC005",
			one(server(probe.CaseUnknownTool, rpc(-32601, "no such tool"))),
			one(server(probe.CaseUnknownTool, rpc(-32602, "no such tool")))},
		{"EC006",
			one(server(probe.CaseUnknownMethod, rpc(0, "method not found"))),
			one(server(probe.CaseUnknownMethod, rpc(-32601, "method not found")))},
		{"EC007",
			one(server(probe.CaseUnknownMethod, rpc(-32050, "method not found"))),
			one(server(probe.CaseUnknownMethod, rpc(-31050, "method not found")))},
		{"EC008",
			one(server(probe.CaseUnknownMethod, rpc(-32010, "method not found"))).at(newest),
			one(server(probe.CaseUnknownMethod, rpc(-32010, "method not found"))).at("2025-11-25")},
		{"EC009",
			one(server(probe.CaseResourcesReadMissing, rpc(-32002, "resource not found"))).at(newest),
			one(server(probe.CaseResourcesReadMissing, rpc(-32002, "resource not found"))).at("2025-11-25")},
		{"EC010",
			one(missing(text(true, "query is missing"))),
			one(missing(text(true, "INVALID_QUERY: query is missing")))},
		{"EC011",
			one(missing(named), missing(good("WRONG", "query is missing", ""))).change(again),
			one(missing(named), missing(good("INVALID", "the argument query is missing", ""))).change(again)},
		{"EC012",
			one(upstream(probe.CaseUpstream503, good("AWAY", "the service is away", ""))),
			one(upstream(probe.CaseUpstream503, good("AWAY", "the service is away", no)))},
		{"EC013",
			one(upstream(probe.CaseUpstream429, good("LIMIT", "the quota is used up", `,"retryable":true`))).change(hits(1)),
			one(upstream(probe.CaseUpstream429, good("LIMIT", "the quota is used up", wait))).change(hits(1))},
		{"EC014",
			one(server(probe.CaseUnknownMethod, rpc(-32601, "Error"))),
			one(server(probe.CaseUnknownMethod, rpc(-32601, "Error: no method zz")))},
		{"EC015",
			one(missing(good("INVALID", "the arguments are wrong", ""))),
			one(missing(good("INVALID", "the Query is wrong", "")))},
		{"EC016",
			one(absent(good("DENIED", "the key sk-zz9secret-1 may not read this", ""))),
			one(absent(good("DENIED", "the key sk-… may not read this", "")))},
		{"EC017",
			one(absent(`"result":{"content":[{"type":"image","data":"","mimeType":"image/png"},{"type":"text","text":"GONE: no such page"}],"structuredContent":{"code":"GONE","message":"no such page"},"isError":true}`)),
			one(absent(`"result":{"content":[{"type":"text","text":"GONE: no such page"},{"type":"image","data":"","mimeType":"image/png"}],"structuredContent":{"code":"GONE","message":"no such page"},"isError":true}`))},
		{"EC018",
			one(absent(structured)).with(output(`{"type":"object","required":["pages"]}`)),
			one(absent(structured)).with(output(`{"type":"object","required":["code"]}`))},
		{"EC019",
			one(absent(strings.Replace(good("GONE", "no such page", ""), `}],"isError"`, `},{"type":"markdown","text":"x"}],"isError"`, 1))),
			one(absent(strings.Replace(good("GONE", "no such page", ""), `}],"isError"`, `},{"type":"text","text":"x"}],"isError"`, 1)))},
		{"EC020",
			one(absent(good("GONE", "no such page "+long, ""))),
			one(absent(good("GONE", "no such page "+long[:1000], "")))},
		{"EC021",
			one(absent(named), absent("")).change(ended(probe.OutcomeCrash)),
			one(absent(named), server(probe.CaseNotJSONRPC, "")).change(silent)},
		{"EC022",
			one(absent(named), absent("")).change(ended(probe.OutcomeHang)),
			one(absent(named), absent("")).change(ended(probe.OutcomeHang)).with(func(t *probe.Tool) { t.Description = "A long-running operation." })},
		{"EC023",
			one(absent(named), missing(text(false, "[]"))),
			one(absent(good("GONE", "no such page", "")), call(probe.GroupValidation, probe.CaseExtraProperty, probe.ExpectAnswer, text(false, "[]"))).with(open)},
		{"EC024",
			one(invalid(probe.CaseTooLong, "/query", good("LONG", "query is too long: "+long[:1000], ""))).change(asks(long)),
			one(invalid(probe.CaseTooLong, "/query", good("LONG", "query is too long: "+long[:100], ""))).change(asks(long))},
		{"EC025",
			one(upstream(probe.CaseUpstream500, good("AWAY", "the service is away", wait))).with(writes),
			one(upstream(probe.CaseUpstream500, good("AWAY", "the service is away", wait)))},
		{"EC026",
			one(upstream(probe.CaseUpstream500, text(true, `{"error":{"code":"AWAY","message":"the service is away"}}`))),
			one(upstream(probe.CaseUpstream500, good("AWAY", "the service is away", "")))},
		{"EC027",
			one(server(probe.CaseUnknownMethod, rpc(-32601, "method not found"))).at(newest).change(status(200)),
			one(server(probe.CaseUnknownMethod, rpc(-32601, "method not found"))).at(newest).change(status(404))},
		{"EC028",
			one(absent(named)).change(func(o *probe.Observation) { o.Response = strings.Replace(o.Response, `"id":7`, `"id":null`, 1) }),
			one(absent(named))},
		{"EC029",
			one(absent(named)).change(func(o *probe.Observation) { o.Noise = []string{"listening…"} }),
			one(absent(named)).change(func(o *probe.Observation) { o.Stderr = "listening…" })},
		{"EC031",
			one(absent(good("GONE", "cannot open /home/ann/srv/pages.db", ""))),
			one(absent(good("GONE", "cannot open pages.db", "")))},
		{"EC032",
			one(upstream(probe.CaseUpstream401, good("FAILED", "the key is wrong", "")), upstream(probe.CaseUpstream404, good("FAILED", "no such page", ""))),
			one(upstream(probe.CaseUpstream401, good("DENIED", "the key is wrong", "")), upstream(probe.CaseUpstream404, good("GONE", "no such page", "")))},
		{"EC033",
			one(invalid(probe.CaseMissingRequired, "", good("INVALID", "query is missing", ""))),
			one(invalid(probe.CaseMissingRequired, "", good("INVALID", "query and page are missing", "")))},
		{"EC034",
			one(upstream(probe.CaseUpstream500, text(false, "The page was saved."))),
			one(absent(named), absent(text(false, "The page was saved.")))},
		{"EC035",
			one(upstream(probe.CaseUpstreamHTML, text(false, "<html><body>please sign in</body></html>"))),
			one(upstream(probe.CaseUpstreamHTML, good("GARBAGE", "the service answered with a page", "")))},
		{"EC036",
			one(server(probe.CaseSetLevelBad, `"result":{}`)),
			one(server(probe.CaseSetLevelBad, rpc(-32602, "no such level")))},
		{"EC037",
			one(asked(2, upstream(probe.CaseUpstream404, good("GONE", "no such page", ""))), asked(6, upstream(probe.CaseUpstream500, good("AWAY", "the service is away", "")))),
			one(asked(2, upstream(probe.CaseUpstream404, good("GONE", "no such page", ""))), asked(2, upstream(probe.CaseUpstream500, good("AWAY", "the service is away", ""))))},
		{"EC038",
			one(absent(named)).with(func(t *probe.Tool) { t.Codes = []string{"GONE"} }),
			one(absent(named)).with(func(t *probe.Tool) { t.Codes = []string{"GONE", "x/INVALID"} })},
		{"EC039",
			one(server(probe.CaseCompleteBadRef, `"result":null`)),
			one(server(probe.CaseCompleteBadRef, rpc(-32602, "no such prompt")))},
		{"EC040",
			one(absent(good("NOT_FOUND", "no such file", ""))).under("kaiza"),
			one(absent(text(true, fmt.Sprintf(kaiza, "FILE_NOT_FOUND")))).under("kaiza")},
		{"EC041",
			one(absent(text(true, strings.Replace(fmt.Sprintf(kaiza, "FILE_NOT_FOUND"), `"role":null,"session_id":null`, `"session_id":null,"role":null`, 1)))).under("kaiza"),
			one(absent(text(true, fmt.Sprintf(kaiza, "FILE_NOT_FOUND")))).under("kaiza")},
		{"EC042",
			one(absent(text(true, fmt.Sprintf(kaiza, "FILE_HIDES_FROM_US")))).under("kaiza"),
			one(absent(text(true, fmt.Sprintf(kaiza, "FILE_NOT_FOUND")))).under("kaiza")},
		{"EC043",
			one(absent(named)).under("candor"),
			one(absent(canonical(candor.CodeNotFound, "no such page"))).under("candor")},
		{"EC044",
			one(absent(strings.Replace(canonical(candor.CodeNotFound, "no such page"), `"class":"not_found"`, `"class":"denied"`, 1))),
			one(absent(canonical(candor.CodeNotFound, "no such page")))},
		{"EC045",
			one(absent(named)).change(func(o *probe.Observation) { o.Extra = 1 }),
			one(absent(named), absent(named))},
		{"EC046",
			one(absent(named)).change(func(o *probe.Observation) { o.Notices = 101 }),
			one(absent(named)).change(func(o *probe.Observation) { o.Notices = 100 })},
		{"EC047",
			one(absent(named), server(probe.CaseMalformedJSON, "")).change(silent),
			one(absent(named), server(probe.CaseMalformedJSON, "")).change(silent).change(status(400))},
		{"EC048",
			one(absent(named), misused(probe.CaseMalformedJSON, `{`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no JSON"}}`)),
			one(absent(named), misused(probe.CaseMalformedJSON, `{`, `{"jsonrpc":"2.0","error":{"code":-32700,"message":"no JSON"}}`))},
		{"EC049",
			one(absent(named), misused(probe.CaseBatch, batch, `{"jsonrpc":"2.0","id":4,"result":{}}`)),
			one(absent(named), misused(probe.CaseBatch, batch, `{"jsonrpc":"2.0","id":4,"result":{}}`+"\n"+`{"jsonrpc":"2.0","id":5,"error":{"code":-32601,"message":"no such method"}}`),
				misused(probe.CaseBatch, batch, `{"jsonrpc":"2.0","id":4,"error":{"code":-32600,"message":"there are no batches"}}`),
				misused(probe.CaseBatch, batch, `[{"jsonrpc":"2.0","id":5,"result":{}},{"jsonrpc":"2.0","id":4,"result":{}}]`))},
		{"EC050",
			one(absent(named), calledOff(named)).change(func(o *probe.Observation) { o.Kept = true }),
			one(absent(named), calledOff(named))},
		{"EC052",
			one(call(probe.GroupDomain, probe.CaseNoArgsValid, probe.ExpectAnswer, good("INVALID_ARGUMENTS", "provide a query or a page", ""))).with(optional),
			one(call(probe.GroupDomain, probe.CaseNoArgsValid, probe.ExpectAnswer, good("CONFIGURATION_MISSING", "the environment variable API_KEY is required", ""))).with(optional)},
		{"EC051",
			one(absent(named), asked(1, upstream(probe.CaseUpstreamSlow, ""))).change(ended(probe.OutcomeHang)),
			one(absent(named), asked(1, upstream(probe.CaseUpstreamSlow, good("SLOW", "the service did not answer in time", no))))},
	}
}

const batch = `[{"jsonrpc":"2.0","id":4,"method":"ping"},{"jsonrpc":"2.0","id":5,"method":"zz/none"}]`

// misused returns an invalid request with its response.
func misused(name, request, response string) probe.Observation {
	o := server(name, "")
	o.Case.Raw, o.Case.Expect, o.Request, o.Response = []byte(request), probe.ExpectSilence, request, response
	return o
}

func calledOff(answer string) probe.Observation {
	return call(probe.GroupLiveness, probe.CaseCancel, probe.ExpectSilence, answer)
}

// asked returns a case in which the upstream got n requests.
func asked(n int, o probe.Observation) probe.Observation {
	o.Hits = n
	return o
}

const structured = `"result":{"content":[{"type":"text","text":"GONE: no such page"}],"structuredContent":{"code":"GONE","message":"no such page"},"isError":true}`

func again(o *probe.Observation) { o.Case.Again = 1 }
func writes(t *probe.Tool)       { t.Annotations = probe.Annotations{} }
func open(t *probe.Tool)         { t.InputSchema = json.RawMessage(`{"type":"object"}`) }
func hits(n int) func(*probe.Observation) {
	return func(o *probe.Observation) { o.Hits = n }
}
func status(n int) func(*probe.Observation) {
	return func(o *probe.Observation) { o.Status = n }
}
func output(schema string) func(*probe.Tool) {
	return func(t *probe.Tool) { t.OutputSchema = json.RawMessage(schema) }
}
func ended(how probe.Outcome) func(*probe.Observation) {
	return func(o *probe.Observation) { o.Outcome, o.Response = how, "" }
}
func silent(o *probe.Observation) {
	o.Outcome, o.Response, o.Case.Expect = probe.OutcomeNoAnswer, "", probe.ExpectSilence
}
func asks(text string) func(*probe.Observation) {
	return func(o *probe.Observation) {
		o.Request = strings.Replace(o.Request, `"arguments":{}`, `"arguments":{"query":"`+text+`"}`, 1)
	}
}

// optional makes all arguments of the tool optional.
func optional(t *probe.Tool) {
	t.InputSchema = json.RawMessage(strings.Replace(string(t.InputSchema), `"required":["query","page"],`, "", 1))
}
