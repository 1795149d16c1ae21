package gatewaytest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/candor-mcp/candor/wire"
)

// ListEnv makes the test binary a server that answers tools/list in an unusual way.
const ListEnv = "CANDOR_TEST_LISTS"

// Kinds of servers, as values of the environment variable [ListEnv].
const (
	ListsMany    = "many"    // very many tools, with patterns
	ListsNothing = "nothing" // tools/list is never answered
	ListsApart   = "apart"   // different tools for different clients, without a handshake
	ListsSlow    = "slow"    // initialize takes a second
	ListsDeaf    = "deaf"    // initialize is never answered
	ListsSome    = "some"    // three of four tools; "hidden" also works, and other names are refused in the way that the name says
	ListsLoose   = "loose"   // tools that check nothing and return their arguments unchanged
)

// manyTools returns a list of tools whose schemas have 20 properties with a pattern each. All schemas are different.
func manyTools(count int) string {
	var b strings.Builder
	b.WriteString(`{"tools":[`)
	for i := range count {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"name":"t%d","inputSchema":{"type":"object","properties":{`, i)
		for j := range 20 {
			if j > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, `"p%d":{"type":"string","pattern":"^[a-z]{1,%d}-%d$"}`, j, (i+j)%40+1, i)
		}
		b.WriteString(`}}}`)
	}
	b.WriteString(`]}`)
	return b.String()
}

// ListMain serves until its input ends.
func ListMain() int {
	kind := os.Getenv(ListEnv)
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return 0
		}
		m := wire.Parse(line, wire.Limits{})
		if m.Kind() != wire.KindRequest {
			continue
		}
		if result := listAnswer(kind, &m); strings.HasPrefix(result, "error:") {
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":%s}`+"\n", m.ID(), result[len("error:"):])
		} else if result != "" {
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", m.ID(), result)
		}
	}
}

func listAnswer(kind string, m *wire.Message) string {
	client, _ := m.Params().Path("_meta", "io.modelcontextprotocol/clientInfo", "name").Str()
	switch string(m.Method()) {
	case "initialize":
		switch kind {
		case ListsSlow:
			time.Sleep(time.Second)
		case ListsDeaf:
			return ""
		}
		return `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"lists","version":"1"}}`
	case "tools/list":
		switch kind {
		case ListsMany:
			return manyTools(1500)
		case ListsLoose:
			return strings.ReplaceAll(LooseTools, "\n", "")
		case ListsApart:
			return `{"resultType":"complete","tools":[{"name":"work","inputSchema":{"type":"object","required":["for_` + client + `"]}}]}`
		case ListsSome:
			return `{"tools":[{"name":"read_file"},{"name":"write_file"},{"name":"search"}]}`
		default:
			return ""
		}
	case "tools/call":
		if kind == ListsSome {
			return someAnswer(m)
		}
		if m.Params().Path("name").Is("hang") {
			return ""
		}
		if kind == ListsLoose {
			return looseAnswer(m)
		}
		return `{"resultType":"complete","content":[{"type":"text","text":"done"}]}`
	default:
		return `{}`
	}
}

// someAnswer answers the call of an unknown tool like various real servers.
func someAnswer(m *wire.Message) string {
	name, _ := m.Params().Path("name").Str()
	quoted := string(wire.AppendString(nil, name))
	inner := quoted[1 : len(quoted)-1]
	how, _ := m.Params().Path("arguments", "how").Str()
	switch {
	case name == "hidden":
		return `{"content":[{"type":"text","text":"done"}]}`
	case how == "result":
		return `{"isError":true,"content":[{"type":"text","text":"MCP error -32602: Tool ` + inner + ` not found"}]}`
	case how == "method":
		return `error:{"code":-32601,"message":"Method not found"}`
	case how == "params":
		return `error:{"code":-32602,"message":"Invalid params"}`
	default:
		return `error:{"code":-32602,"message":"Unknown tool: ` + inner + `"}`
	}
}

// LooseTools describes tools whose server checks nothing. "search" has a closed schema and "open" an open one; "broken" always
// fails.
const LooseTools = `{"tools":[
{"name":"search","inputSchema":` + closedSchema + `},
{"name":"broken","inputSchema":` + closedSchema + `},
{"name":"hang","inputSchema":` + closedSchema + `},
{"name":"open","inputSchema":{"type":"object","required":["path"],"properties":{"path":{"type":"string"},"head":{"type":"integer"}}}},
{"name":"nested","inputSchema":{"type":"object","required":["edits"],"properties":{"edits":{"type":"array","items":{"type":"object",
 "required":["oldText"],"properties":{"oldText":{"type":"string"},"count":{"type":"integer"}},"additionalProperties":false}}}}},
{"name":"defaulted","inputSchema":{"type":"object","required":["mode","note"],"properties":{"mode":{"type":"string","default":"fast"},"note":{"type":["string","null"]}}}},
{"name":"either","inputSchema":{"type":"object","anyOf":[{"required":["id"]},{"required":["name"]}],"properties":{"id":{"type":"string"},"name":{"type":"string"}}}},
{"name":"nothing","inputSchema":{"type":"object","required":["a"],"properties":{"a":false}}},
{"name":"text","inputSchema":{"type":"string"}},
{"name":"lost","inputSchema":{"type":"object","required":["a"],"properties":{"a":{"$ref":"https://example.com/a.json"}}}}]}`

// looseAnswer returns the arguments as text, or a failure that does not mention them.
func looseAnswer(m *wire.Message) string {
	if m.Params().Path("name").Is("broken") {
		return `{"isError":true,"content":[{"type":"text","text":"the disk of the index is away"}]}`
	}
	text, _ := json.Marshal(string(m.Params().Path("arguments").Raw()))
	return `{"content":[{"type":"text","text":` + string(text) + `}]}`
}

const closedSchema = `{"type":"object","additionalProperties":false,"required":["query"],"properties":{
"query":{"type":"string","maxLength":40},"limit":{"type":"integer","minimum":1},"exact":{"type":"boolean"},"tags":{"type":"array","items":{"type":"string"}},
"filter":{"type":"object"},"sort":{"enum":["asc","desc"]},"since":{"type":"string","format":"date"},
"scope":{"anyOf":[{"type":"integer"},{"type":"null"}]},"page":{"$ref":"#/$defs/page"}},"$defs":{"page":{"type":"integer"}}}`
