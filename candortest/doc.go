// Package candortest checks how an MCP server behaves when something goes wrong, and explains every answer that is not right. The server
// may be written in any language; it is tested over stdio or HTTP, in both protocol eras.
//
// # How do I start?
//
// Call [TestServer] in a test:
//
//	func TestErrors(t *testing.T) {
//		candortest.TestServer(t, candortest.Stdio("node", "server.js"), candortest.Options{
//			Tools:   []candortest.Call{{Tool: "read_file", Arguments: `{"path":"README.md"}`}},
//			Failing: []candortest.Call{{Tool: "read_file", Arguments: `{"path":"no/such/file"}`}},
//		})
//	}
//
// Outside of a test, [Check] returns the findings. docs/candortest.md lists the checks.
//
// # What does it do to my server?
//
// Each check opens a new connection, sends raw bytes, waits for a bounded time and inspects the bytes that come back. A server that
// hangs, exits or floods the client causes a finding and does not block the test run. A tool is called only if an option names it or the
// server marks it readOnlyHint.
//
// # What may I rely on?
//
//   - A check that lacks something is skipped and reports what it lacks; it never passes by default.
//   - Output of the server is bounded and redacted before it is shown.
//   - The kit uses no MCP SDK, so that it does not share the mistakes of the servers it checks.
package candortest
