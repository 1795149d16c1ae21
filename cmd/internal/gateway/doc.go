// Package gateway stands between an MCP client and an MCP server of any language and makes the server honest about failure
// without touching it. It moves raw bytes: a clean message leaves as the bytes it came in.
//
//	client ──► read ─► admit ─► write ──► upstream
//	upstream ─► read ─► close ─► write ──► client
//
// Admit opens a [Call], or refuses it with an answer; close classifies the answer, normalises, records and counts a failure,
// and returns the bytes to send. A death, a timeout, an oversize or unreadable answer is closed in the same way, by [Call.Fail].
// So every call has one end, and all bookkeeping is in one place; doors only move frames.
//
// # The rules of the room
//
//   - Record, count, then write. What was received is never what is edited.
//   - Nothing a peer says changes what is executed.
//   - It declares the two small interfaces it needs, [Ledger] and [Meter]; whoever builds the binary plugs them in.
package gateway
