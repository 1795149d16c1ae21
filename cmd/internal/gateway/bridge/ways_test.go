package bridge_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/limits"
	"github.com/candor-mcp/candor/internal/testing/planted"
	"github.com/candor-mcp/candor/internal/testing/sweep"
)

// act is the reaction of a test upstream to a call.
type act struct {
	Say    string // the members of its answer besides the id
	Noise  string // printed to standard output before the answer; a child only
	Stderr string // a child only
	Exit   int    // if not 0, a child exits with it instead of an answer
	Status int    // status of an answer without JSON-RPC, 0 otherwise; HTTP only
	Kind   string // its media type
	Body   string // its body
}

// plant is one secret, or one text that must not reach the client, in one failure.
type plant struct {
	way, kind, secret string
	act               act
	line              string // the request with $id, $secret and $meta; "" calls the tool that performs the act
}

// way is a position in an upstream's answer that can hold text. The text contains the secret.
type way struct {
	name string
	act  func(text, secret string) act
}

// object writes alternating names and values as JSON, in this order. A map would sort the names.
func object(parts ...any) json.RawMessage {
	var b bytes.Buffer
	for i := 0; i < len(parts); i += 2 {
		name, err := json.Marshal(parts[i])
		value, valueErr := json.Marshal(parts[i+1])
		if err != nil || valueErr != nil {
			panic(fmt.Sprint("the test cannot be written: ", err, valueErr))
		}
		fmt.Fprintf(&b, ",%s:%s", name, value)
	}
	return []byte("{" + strings.TrimPrefix(b.String(), ",") + "}")
}

// failed returns a failed result with a text block, further blocks and further members.
func failed(text string, blocks []any, members ...any) act {
	content := append([]any{object("type", "text", "text", text)}, blocks...)
	return act{Say: `"result":` + string(object(append([]any{"content", content, "isError", true}, members...)...))}
}

func refused(message string, data any) act {
	return act{Say: `"error":` + string(object("code", -32050, "message", message, "data", data))}
}

// leakyWays are the positions in answers of any upstream, for all transports.
var leakyWays = []way{
	{"text", func(text, _ string) act { return failed(text, nil) }},
	{"several blocks", func(text, _ string) act {
		return failed("it failed", []any{object("type", "text", "text", "more: "+text), object("type", "text", "text", text)})
	}},
	{"structured content", func(text, secret string) act {
		return failed("it failed", nil, "structuredContent", object("error", text, "nested", []any{object("deep", secret)}))
	}},
	{"embedded resource", func(text, _ string) act {
		return failed("it failed", []any{object("type", "resource", "resource", object("uri", "log:///last", "text", text))})
	}},
	{"link", func(_, secret string) act {
		return failed("it failed", []any{object("type", "resource_link", "uri", "https://bot:"+secret+"@x.example/?token="+secret, "name", secret)})
	}},
	{"_meta", func(text, _ string) act {
		return failed("it failed", nil, "_meta", object("com.example/debug", object("said", text)))
	}},
	{"_meta of a block", func(text, _ string) act {
		return failed("it failed", []any{object("type", "text", "text", "x", "_meta", object("com.example/x", text))})
	}},
	{"name of a member", func(_, secret string) act {
		return failed("it failed", nil, "structuredContent", object("error", "denied", secret, 1))
	}},
	{"envelope", func(text, _ string) act {
		return failed(text, nil, "_meta", object("dev.candor/error", ownEnvelope(text)))
	}},
	{"message", func(text, _ string) act { return refused(text, object("a", 1)) }},
	{"message alone", func(text, _ string) act {
		return act{Say: `"error":` + string(object("code", -32603, "message", text))}
	}},
	{"message of a missing resource", func(text, _ string) act {
		return act{Say: `"error":` + string(object("code", -32002, "message", text, "data", object("uri", "file:///a")))}
	}},
	{"missing resource", func(_, secret string) act {
		return act{Say: `"error":` + string(object("code", -32002, "message", "not found", "data", object("uri", "https://bot:"+secret+"@x.example/")))}
	}},
	{"data", func(text, secret string) act {
		return refused("Navigation failed", object("said", text, "nested", []any{[]any{object("deep", secret)}}))
	}},
	{"text as data", func(text, _ string) act { return refused("Navigation failed", text) }},
	{"envelope in data", func(text, _ string) act {
		return refused(text, object("dev.candor/error", ownEnvelope(text)))
	}},
	{"error that is a text", func(text, _ string) act {
		b, _ := json.Marshal(text) // cannot fail for a string
		return act{Say: `"error":` + string(b)}
	}},
	{"error without a number", func(text, _ string) act {
		return act{Say: `"error":` + string(object("message", text, "details", text))}
	}},
	{"beside the error", func(text, _ string) act {
		return act{Say: `"debug":` + string(object("said", text)) + `,` + refused("it failed", nil).Say}
	}},
	{"text with half a pair", func(text, _ string) act {
		a := refused("Navigation failed: half", text)
		a.Say = strings.Replace(a.Say, "half", `half \ud800`, 1)
		return a
	}},
	{"no version", func(text, _ string) act {
		return act{Say: `"jsonrpc":"1.0","result":` + string(object("isError", true, "content", []any{object("type", "text", "text", text)}))}
	}},
}

// ownEnvelope returns a valid handwritten envelope, with texts that package candor would not allow. It claims to be the
// gateway's.
func ownEnvelope(text string) json.RawMessage {
	const mark = "the words"
	e := candor.New(candor.CodeUnavailable, mark, candor.WithSuggestion(mark), candor.WithOrigin(candor.PartyGateway, false), candor.WithRef(mark),
		candor.WithDetails(map[string]any{"reason": mark, "status": mark}), candor.WithCauseText(candor.Cause{Message: mark, Code: mark, Name: mark}),
		candor.WithCallInfo(candor.CallInfo{Role: mark, PlanHash: mark, PhaseID: mark, InvariantID: mark, SessionID: mark, Tool: mark}))
	words, _ := json.Marshal(text) // cannot fail for a string
	return bytes.ReplaceAll(e.AppendJSON(nil, candor.JSONOptions{}), []byte(`"`+mark+`"`), words)
}

// childWays are those of a child that continues to run.
var childWays = []way{
	{"noise", func(text, _ string) act {
		return act{Noise: strings.ReplaceAll(text, "\n", " ") + "\n", Say: failed("it failed", nil).Say}
	}},
	{"stderr that is passed on", func(text, _ string) act { return act{Stderr: text + "\n", Say: failed("it failed", nil).Say} }},
}

// httpWays are rejections without JSON-RPC.
var httpWays = []way{
	{"body of a 500", func(text, _ string) act { return act{Status: 500, Kind: "text/plain", Body: text} }},
	{"page of a 502", func(text, _ string) act {
		return act{Status: 502, Kind: "text/html", Body: "<html><pre>" + text + "</pre></html>"}
	}},
	{"JSON of a 422", func(text, secret string) act {
		return act{Status: 422, Kind: "application/json", Body: string(object("detail", text, "key", secret))}
	}},
	{"body of a 401", func(text, _ string) act { return act{Status: 401, Kind: "text/plain", Body: text} }},
	{"JSON of a 401", func(text, _ string) act {
		return act{Status: 401, Kind: "application/json", Body: string(object("error", "invalid_token", "error_description", text))}
	}},
	{"body of a 403", func(text, _ string) act { return act{Status: 403, Kind: "text/plain", Body: text} }},
	{"JSON-RPC with a 400", func(text, _ string) act {
		return act{Status: 400, Kind: "application/json", Body: `{"jsonrpc":"2.0","id":null,"error":` + string(object("code", -32000, "message", text)) + `}`}
	}},
	{"success that is no JSON", func(text, _ string) act { return act{Status: 200, Kind: "text/plain", Body: text} }},
	{"event", func(text, _ string) act {
		return act{Status: 200, Kind: "text/event-stream", Body: "data: {\"jsonrpc\":\"2.0\",\"id\":$id," + failed(text, nil).Say + "}\n\n"}
	}},
	{"event that is no message", func(text, _ string) act {
		return act{Status: 200, Kind: "text/event-stream", Body: "data: " + strings.ReplaceAll(text, "\n", " ") + "\n\n"}
	}},
}

// clientWays are requests that hold a secret, which a refusal might quote.
var clientWays = map[string]string{
	"bad value of an argument":     `{"jsonrpc":"2.0","id":$id,"method":"tools/call","params":{"name":"strict","arguments":{"mode":"$secret","n":"$secret","key":"$secret"}}}`,
	"unknown argument":             `{"jsonrpc":"2.0","id":$id,"method":"tools/call","params":{"name":"strict","arguments":{"mode":"r","$secret":1}}}`,
	"arguments of a wrong type":    `{"jsonrpc":"2.0","id":$id,"method":"tools/call","params":{"name":"strict","arguments":"$secret"}}`,
	"name of a tool":               `{"jsonrpc":"2.0","id":$id,"method":"tools/call","params":{"name":"$secret","arguments":{}}}`,
	"name of a method":             `{"jsonrpc":"2.0","id":$id,"method":"$secret","params":{}}`,
	"params of a wrong type":       `{"jsonrpc":"2.0","id":$id,"method":"tools/call","params":"$secret"}`,
	"params of a wrong inner type": `{"jsonrpc":"2.0","id":$id,"method":"tools/call","params":{"name":{"x":"$secret"}}}`,
	"version":                      `{"jsonrpc":"$secret","id":$id,"method":"tools/list","params":{}}`,
	"duplicate member":             `{"jsonrpc":"2.0","id":$id,"method":"tools/list","params":{"$secret":1,"$secret":2}}`,
}

// plantAll puts every kind of secret into every second way, at varying positions and across the offsets at which texts are cut.
// The other half has the other ways.
func plantAll(r *rand.Rand, own []way, half int) (all []plant) {
	for i, maker := range planted.Makers {
		for j, w := range append(append([]way{}, leakyWays...), own...) {
			if (i+j)%2 != half || (i+j)/2%sweep.Step(3, 8) != 0 {
				continue
			}
			secret := maker.Make(r)
			all = append(all, plant{way: w.name, kind: maker.Kind, secret: secret, act: w.act(planted.Templates[(i+j)%len(planted.Templates)].Text(secret), secret)})
			for _, edge := range edges[w.name] {
				if edge == 64<<10 && i%8 > 1 { // they take long
					continue
				}
				secret := maker.Make(r)
				all = append(all, plant{way: fmt.Sprint(w.name, " across ", edge), kind: maker.Kind, secret: secret, act: w.act(planted.Across(edge, i+j, secret), secret)})
			}
		}
		for name, line := range clientWays {
			all = append(all, plant{way: name, kind: maker.Kind, secret: maker.Make(r), line: line})
		}
	}
	return all
}

// edges are the offsets at which the text of a way is cut for the client, the log or the ledger.
var edges = map[string][]int{
	"text": {limits.Message, 64 << 10}, "message": {limits.Message, 64 << 10}, "text as data": {4 << 10},
	"body of a 500": {512, 2048}, "body of a 403": {64 << 10}, "noise": {256, 4 << 10}, "stderr that is passed on": {64 << 10},
}

// request returns the request of a plant; its id is its number.
func (p plant) request(id int) string {
	line := p.line
	if line == "" {
		line = `{"jsonrpc":"2.0","id":$id,"method":"tools/call","params":{"name":"leak","arguments":{"n":$id}}}`
	}
	return strings.NewReplacer("$id", strconv.Itoa(id), "$secret", p.secret).Replace(line)
}

const strictTools = `"result":{"tools":[{"name":"leak","inputSchema":{"type":"object"}},{"name":"strict","inputSchema":{"type":"object",` +
	`"required":["mode"],"additionalProperties":false,"properties":{"mode":{"type":"string","enum":["r","w"]},"n":{"type":"integer"},"key":{"type":"string","maxLength":3}}}}]}`

// perform returns the act that a request selects.
func perform(acts []act, request []byte) (id json.RawMessage, a act) {
	var r struct {
		ID     json.RawMessage
		Method string
		Params struct{ Arguments struct{ N int } }
	}
	if err := json.Unmarshal(request, &r); err != nil {
		return nil, act{}
	}
	switch r.Method {
	case "tools/call":
		return r.ID, acts[r.Params.Arguments.N]
	case "tools/list":
		return r.ID, act{Say: strictTools}
	case "initialize":
		return r.ID, act{Say: `"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"leaky","version":"1"}}`}
	default:
		return r.ID, act{Say: `"error":` + string(object("code", -32601, "message", "unknown method "+r.Method))}
	}
}

// answer returns the complete message of an act.
func (a act) answer(id json.RawMessage) string {
	if strings.HasPrefix(a.Say, `"jsonrpc"`) {
		return fmt.Sprintf(`{"id":%s,%s}`, id, a.Say)
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, id, a.Say)
}
