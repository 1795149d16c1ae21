// Package boundary is the edge of an MCP server built on the official go-sdk: behind it anything may fail in any way, in front
// of it every failure is one readable, typed, retry-aware error that was recorded before it was sent and counted once.
//
// One line does it. For a server on standard input and output:
//
//	err := boundary.Serve(ctx, server, boundary.Options{Ledger: trail, Meter: counts})
//
// and for one behind HTTP:
//
//	http.ListenAndServe("127.0.0.1:8080", boundary.Handler(server, boundary.Options{}))
//
// # Three layers
//
// The receiving middleware ([Install]) sees what handlers do: it recovers panics, checks arguments and results, keeps
// deadlines and maps errors. It never sees a malformed line, an unknown method or a rejected request, because the SDK answers
// those itself; so a transport wrapper ([Boundary.Stdio], [Boundary.Transport]) and an http.Handler wrapper ([Boundary.HTTP])
// stand around the SDK. A failure that one layer has settled passes the others untouched.
//
// # The rules of the room
//
//   - Record, count, then send. A failure that cannot be recorded leaves as AUDIT_LOG_FAILED.
//   - A success costs nothing: it leaves as the handler made it.
//   - What an author wrote is kept: content blocks, data of a JSON-RPC error, the channel that was chosen.
//   - It brings an SDK, not a disk: ledger and meter come in through two small interfaces.
package boundary
