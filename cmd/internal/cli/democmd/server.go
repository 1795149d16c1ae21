package democmd

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/internal/scripted"
	"github.com/candor-mcp/candor/wire"
)

// NewServer returns the hidden command that serves the bad server of the demo.
func NewServer(env *term.Env) *cobra.Command {
	return &cobra.Command{
		Use: DemoServerName, Hidden: true, Args: cobra.NoArgs,
		Short: "The bad server of the demo",
		RunE: func(*cobra.Command, []string) error {
			s := &scripted.Server{Name: "orders", Tools: demoTools, Script: func(m *wire.Message) (string, bool) {
				return demoTool(env, m), m.MethodIs("tools/call")
			}}
			return s.Serve(env.In, term.Unbuffered{To: env.Out})
		},
	}
}

// DemoServerName is the name of the hidden command.
const DemoServerName = "demo-server"

const demoTools = `{"name":"search_orders","description":"Search orders.","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object",` +
	`"properties":{"query":{"type":"string"},"limit":{"type":"integer","minimum":1}},"required":["query"],"additionalProperties":false}},` +
	`{"name":"get_invoice","inputSchema":{"type":"object"}},{"name":"get_rates","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object"}},` +
	`{"name":"list_customers","inputSchema":{"type":"object"}},{"name":"rebuild_index","inputSchema":{"type":"object"}},` +
	`{"name":"export_report","inputSchema":{"type":"object"}}`

// demoTool answers the call of a tool. Each tool has a different defect.
func demoTool(env *term.Env, m *wire.Message) string {
	name, _ := m.Params().Path("name").Str()
	switch name {
	case "search_orders":
		if m.Params().Path("arguments", "query").Type() != wire.TypeString {
			return scripted.Text("TypeError: Cannot read properties of undefined (reading 'trim')\n    at search (/srv/orders/dist/tools.js:41:19)", true)
		}
		return scripted.Text("3 orders: 1001, 1002, 1007", false)
	case "get_rates":
		return scripted.Text("Request failed with status code 429, retry-after: 2", true)
	case "get_invoice":
		return scripted.Text(`{"success":false,"error":"Invoice 7 does not exist"}`, false)
	case "list_customers":
		return scripted.Text("connect ECONNREFUSED postgres://orders:s3cr3t-pw@db.internal:5432/orders", true)
	case "rebuild_index":
		fmt.Fprintln(env.Err, "fatal: index is damaged")
		os.Exit(3)
	}
	return "" // export_report never answers
}
