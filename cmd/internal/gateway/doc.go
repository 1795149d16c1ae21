// Package gateway handles the calls between an MCP client and an MCP server written in any language. It admits or
// refuses calls, and classifies, records and rewrites failing answers. A clean message is forwarded as the same bytes.
//
//	client ──► read ─► admit ─► write ──► upstream
//	upstream ─► read ─► close ─► write ──► client
//
// [Upstream.Admit] opens a [Call], or refuses it with an answer. [Call.Close] classifies the answer, normalises,
// records and counts a failure, and returns the bytes to send. A lost call, a timeout, and an oversize or unreadable
// answer end in the same way with [Call.Fail]. So every call ends once, and all failures are recorded and counted here.
// The packages stdio, http and bridge only move messages.
//
// Rules for changes:
//
//   - Record, count, then write. Never edit the received bytes.
//   - A message from a peer must never determine which command is executed.
//   - Use the ledger and the meter only through [candor.Ledger] and [candor.Meter]; the commands pass them in.
package gateway
