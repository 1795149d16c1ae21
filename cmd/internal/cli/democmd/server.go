package democmd

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
)

// NewServer returns the hidden command that serves the bad server of the demo.
func NewServer(env *term.Env) *cobra.Command {
	return &cobra.Command{
		Use: DemoServerName, Hidden: true, Args: cobra.NoArgs,
		Short: "The bad server of the demo",
		RunE: func(*cobra.Command, []string) error {
			lines := bufio.NewScanner(env.In)
			for lines.Scan() {
				if answer := demoServe(env, lines.Bytes()); answer != "" {
					fmt.Fprintln(env.Out, answer)
					if err := env.Out.Flush(); err != nil {
						return err
					}
				}
			}
			return lines.Err()
		},
	}
}

// DemoServerName is the name of the hidden command.
const DemoServerName = "demo-server"

const demoTools = `{"tools":[` +
	`{"name":"search_orders","description":"Search orders.","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object",` +
	`"properties":{"query":{"type":"string"},"limit":{"type":"integer","minimum":1}},"required":["query"],"additionalProperties":false}},` +
	`{"name":"get_invoice","inputSchema":{"type":"object"}},{"name":"get_rates","inputSchema":{"type":"object"}},` +
	`{"name":"list_customers","inputSchema":{"type":"object"}},{"name":"rebuild_index","inputSchema":{"type":"object"}},` +
	`{"name":"export_report","inputSchema":{"type":"object"}}]}`

type demoRequest struct {
	ID     json.RawMessage
	Method string
	Params struct {
		Name            string
		ProtocolVersion string
		Arguments       map[string]any
	}
}

// demoServe returns the response to a line, or "" for none.
func demoServe(env *term.Env, line []byte) string {
	var r demoRequest
	if err := json.Unmarshal(line, &r); err != nil || r.ID == nil {
		return ""
	}
	result := `{}`
	switch r.Method {
	case "initialize":
		result = fmt.Sprintf(`{"protocolVersion":%q,"capabilities":{"tools":{}},"serverInfo":{"name":"orders","version":"0.0.1"}}`, r.Params.ProtocolVersion)
	case "tools/list":
		result = demoTools
	case "tools/call":
		result = demoTool(env, r)
	}
	if result == "" {
		return ""
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, r.ID, result)
}

// demoTool returns the result of a tool. Each tool has a different defect.
func demoTool(env *term.Env, r demoRequest) string {
	switch r.Params.Name {
	case "search_orders":
		if _, ok := r.Params.Arguments["query"].(string); !ok {
			return demoBlock(`TypeError: Cannot read properties of undefined (reading 'trim')\n    at search (/srv/orders/dist/tools.js:41:19)`, true)
		}
		return demoBlock("3 orders: 1001, 1002, 1007", false)
	case "get_rates":
		return demoBlock("Request failed with status code 429, retry-after: 2", true)
	case "get_invoice":
		return demoBlock(`{\"success\":false,\"error\":\"Invoice 7 does not exist\"}`, false)
	case "list_customers":
		return demoBlock("connect ECONNREFUSED postgres://orders:s3cr3t-pw@db.internal:5432/orders", true)
	case "rebuild_index":
		fmt.Fprintln(env.Err, "fatal: index is damaged")
		os.Exit(3)
	}
	return "" // export_report never answers
}

// demoBlock returns a result with one text block. text is already escaped for JSON.
func demoBlock(text string, failed bool) string {
	return fmt.Sprintf(`{"content":[{"type":"text","text":"%s"}],"isError":%t}`, text, failed)
}
