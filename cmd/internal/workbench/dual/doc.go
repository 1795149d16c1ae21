// Package dual is a server for tasks, thought records and attestations, with 27 tools. Its failures have two shapes: a
// tool of pattern A throws, and the result is marked isError; a tool of pattern B returns its domain failures as data
// of a success, unmarked:
//
//	A  {"ok":false,"error":{"code":…,"message":…,"details":…}}
//	B  {"ok":true,"data":{"ok":false,"error":{"code":…,"message":…,"details":…}}}
//
// The dialect dual-unified writes A for both, with isError set and the code in one position.
//
// # Promises
//
//   - Every change is one transaction. After a crash it is complete or absent.
//   - A task is not DONE before a thought was recorded for it, and changes its status only along the state machine.
//   - A thought record is chained to the one before it, and its hash covers every field. The ledger attests each record when it is made, so
//     that a change, a removal, or a completely rewritten chain is detected.
//   - An audit session is finalised once. Its root covers all of its records, and each record has a proof.
//   - With --access readonly or minimal, a tool that is not allowed is refused before its arguments are read.
package dual
