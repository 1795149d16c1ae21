// Package dual is a server for tasks, thought records and attestations, with 27 tools. Its failures have two shapes: a tool of pattern A
// throws, and the result is marked isError; a tool of pattern B returns its domain failures as data of a success, unmarked:
//
//	A  {"ok":false,"error":{"code":…,"message":…,"details":…}}
//	B  {"ok":true,"data":{"ok":false,"error":{"code":…,"message":…,"details":…}}}
//
// The dialect dual-unified writes A for both, marked, with the code in one place.
//
// # Promises
//
//   - Every change is one transaction. After a crash it is there as a whole, or not at all.
//   - A task is not DONE before a thought was recorded for it, and changes its status only along the state machine.
//   - A thought record is chained to the one before it, and its hash covers every field. The ledger attests each record when it was made, so
//     that a change, a removal, or a chain that was rewritten as a whole is found.
//   - An audit session is finalised once. Its root covers all of its records, and each record has a proof.
//   - With --access readonly or minimal, a tool that is not admitted is refused before its arguments are read.
package dual
