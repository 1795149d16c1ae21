// Package candortest asks an MCP server how it behaves when something goes wrong, and explains every answer that is not
// right. It needs nothing from the server but its transport: any language, stdio or HTTP, both protocol eras.
//
//	func TestErrors(t *testing.T) {
//		candortest.TestServer(t, candortest.Stdio("node", "server.js"),
//			candortest.WithTool("read_file", `{"path":"README.md"}`),
//			candortest.WithFailingTool("read_file", `{"path":"no/such/file"}`))
//	}
//
// Each check opens a connection of its own, sends raw bytes, waits no longer than it was told and looks at raw bytes. A
// server that hangs, dies or floods costs a finding and not the test run.
//
// The rules of the room:
//
//   - A tool is called only if an option names it or the server marks it readOnlyHint. Nothing else is ever run.
//   - A check that lacks something is skipped and says what it lacks; it never passes by default.
//   - What the server wrote is bounded and redacted before it is shown.
//   - No MCP SDK: the kit must not share the mistakes of what it checks.
package candortest
