package gatewaytest

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/candor-mcp/candor/internal/jsontext"
	"github.com/candor-mcp/candor/internal/scripted"
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

// manyTools returns tools whose schemas have 20 properties with a pattern each. All schemas are different.
func manyTools(count int) string {
	var b strings.Builder
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
	return b.String()
}

// ListMain serves until its input ends.
func ListMain() int {
	kind := os.Getenv(ListEnv)
	s := &scripted.Server{Name: "lists", Script: func(m *wire.Message) (string, bool) { return listAnswer(kind, m) }}
	switch kind {
	case ListsMany:
		s.Tools = manyTools(1500)
	case ListsLoose:
		s.Tools = strings.ReplaceAll(looseTools, "\n", "")
	case ListsSome:
		s.Tools = `{"name":"read_file"},{"name":"write_file"},{"name":"search"}`
	}
	_ = s.Serve(os.Stdin, os.Stdout)
	return 0
}

func listAnswer(kind string, m *wire.Message) (members string, ok bool) {
	switch string(m.Method()) {
	case "initialize":
		if kind == ListsSlow {
			time.Sleep(time.Second) // a server that starts slowly
		}
		return "", kind == ListsDeaf
	case "tools/list":
		if kind == ListsApart {
			client, _ := m.Params().Path("_meta", "io.modelcontextprotocol/clientInfo", "name").Str()
			return `"result":{"resultType":"complete","tools":[{"name":"work","inputSchema":{"type":"object","required":["for_` + client + `"]}}]}`, true
		}
		return "", kind == ListsNothing || kind == ListsSlow || kind == ListsDeaf
	case "tools/call":
		switch {
		case kind == ListsSome:
			return someAnswer(m), true
		case m.Params().Path("name").Is("hang"):
			return "", true
		case kind == ListsLoose:
			return looseAnswer(m), true
		}
		return `"result":{"resultType":"complete","content":[{"type":"text","text":"done"}]}`, true
	default:
		return "", false
	}
}

// someAnswer answers the call of an unknown tool like various real servers.
func someAnswer(m *wire.Message) string {
	name, _ := m.Params().Path("name").Str()
	how, _ := m.Params().Path("arguments", "how").Str()
	switch {
	case name == "hidden":
		return scripted.Text("done", false)
	case how == "result":
		return scripted.Text("MCP error -32602: Tool "+name+" not found", true)
	case how == "method":
		return `"error":{"code":-32601,"message":"Method not found"}`
	case how == "params":
		return `"error":{"code":-32602,"message":"Invalid params"}`
	default:
		return `"error":{"code":-32602,"message":` + string(jsontext.AppendString(nil, "Unknown tool: "+name)) + `}`
	}
}

// looseTools describes tools whose server checks nothing. "search" has a closed schema and "open" an open one; "broken" always
// fails.
const looseTools = `
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
{"name":"lost","inputSchema":{"type":"object","required":["a"],"properties":{"a":{"$ref":"https://example.com/a.json"}}}}`

// looseAnswer returns the arguments as text, or a failure that does not mention them.
func looseAnswer(m *wire.Message) string {
	if m.Params().Path("name").Is("broken") {
		return scripted.Text("the disk of the index is away", true)
	}
	return scripted.Text(string(m.Params().Path("arguments").Raw()), false)
}

const closedSchema = `{"type":"object","additionalProperties":false,"required":["query"],"properties":{
"query":{"type":"string","maxLength":40},"limit":{"type":"integer","minimum":1},"exact":{"type":"boolean"},"tags":{"type":"array","items":{"type":"string"}},
"filter":{"type":"object"},"sort":{"enum":["asc","desc"]},"since":{"type":"string","format":"date"},
"scope":{"anyOf":[{"type":"integer"},{"type":"null"}]},"page":{"$ref":"#/$defs/page"}},"$defs":{"page":{"type":"integer"}}}`
