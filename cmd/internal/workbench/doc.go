// Package workbench runs the reference servers: systems that were only ever described, really working on Candor.
//
// A [System] is a list of tools, each with the codes it can raise, and a few words about how it speaks. [Open] puts it together
// with all that the systems share: durable state, sessions, the trail, the boundary, and an audit of itself at the start.
//
// # A call
//
//	enter ─► gate ─► run ─► (reserve ─► effect ─► complete) ─► exit
//
// Every call is entered in the trail before anything is done for it and left when its answer is known. What fails leaves one entry
// of kind failure besides, written by the boundary. An effect is reserved before it happens and completed after. If the trail cannot
// be written, nothing happens.
package workbench
