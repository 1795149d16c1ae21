// Package session stores workflow sessions as events that are only ever added.
//
// # On disk
//
// A session is a folder below the folder of the store:
//
//	<id>/manifest.jsonl            one line for each segment, in order
//	<id>/events/<first>-<last>.jsonl  a segment: events, one a line
//	<id>/lock                      held while the session is changed; names its holder
//	<id>/orphans/                  segments that a crash left without a line, moved out of the way
//	new-<id>/                      a session that is being made or removed, or that a crash left so
//
// A call adds one segment. It is written under another name, synced and renamed, and its folder is synced; then a line with its digest is
// added to the manifest and synced. That line is what makes the segment part of the session: a crash before it leaves a segment without a
// line, which is ignored and moved aside by the next writer. Each line holds the hash of the one before it.
//
// Nothing is ever repaired in place. [Store.Health] reports what is wrong with a session, [Store.Salvage] reads what is left.
package session
