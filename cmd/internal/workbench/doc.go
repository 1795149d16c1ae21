// Package workbench runs the reference servers: working implementations of four published error contracts, built on
// Candor.
//
// A [System] is a list of tools, each with the codes it can raise, and the hooks of its contract. [Open] adds the parts
// that all systems share: durable state, sessions, the audit trail, the boundary, and a self-audit at startup.
//
// # A call
//
//	enter ─► gate ─► run ─► (reserve ─► effect ─► complete) ─► exit
//
// Each call writes an enter entry before any work is done and an exit entry when its result is known. The boundary adds one
// entry of kind failure for a call that fails. An effect is reserved before it happens and completed after it. If its
// entries cannot be written, a call is refused before it has an effect.
package workbench
