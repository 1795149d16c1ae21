// Package candortest checks how an MCP server behaves when something goes wrong, and explains every answer that is not
// right. It needs only the transport of the server: any language, stdio or HTTP, both protocol eras.
//
//	func TestErrors(t *testing.T) {
//		candortest.TestServer(t, candortest.Stdio("node", "server.js"),
//			candortest.WithTool("read_file", `{"path":"README.md"}`),
//			candortest.WithFailingTool("read_file", `{"path":"no/such/file"}`))
//	}
//
// Each check opens a new connection, sends raw bytes, waits for a bounded time and inspects raw bytes. A server that hangs,
// exits or floods the client causes a finding and does not block the test run.
//
// The package follows these rules:
//
//   - A tool is called only if an option names it or the server marks it readOnlyHint. No other tool is ever called.
//   - A check that lacks something is skipped and reports what it lacks; it never passes by default.
//   - Output of the server is bounded and redacted before it is shown.
//   - The kit uses no MCP SDK, so that it does not share the mistakes of the servers it checks.
package candortest
