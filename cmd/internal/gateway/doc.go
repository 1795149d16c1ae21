// Package gateway decides what becomes of the calls between an MCP client and an MCP server of any language: it admits a call or refuses
// it, and classifies, records and rewrites failing answers. A clean message is forwarded as the same bytes.
//
//	client ──► read ─► admit ─► write ──► upstream
//	upstream ─► read ─► close ─► write ──► client
//
// [Upstream.Admit] opens a [Call], or refuses it with an answer. [Call.Close] classifies the answer, normalises, records and counts a
// failure, and returns the bytes to send. A lost call, a timeout, and an oversize or unreadable answer end in the same way with
// [Call.Fail]. So every call ends once, and all bookkeeping is here. The packages stdio, http and bridge only move messages.
//
// Rules for changes:
//
//   - Record, count, then write. Never edit the received bytes.
//   - No message of a peer decides what is executed.
//   - It uses a ledger and a meter only through [candor.Ledger] and [candor.Meter]; the commands pass them in.
package gateway
