// Package session stores workflow sessions as append-only events.
//
// # On disk
//
// A session is a directory below the directory of the store:
//
//	<id>/manifest.jsonl            one line for each segment, in order
//	<id>/events/<first>-<last>.jsonl  a segment: events, one per line
//	<id>/lock                      held while the session is changed; names its holder
//	<id>/orphans/                  segments without a manifest line, left by a crash
//	new-<id>/                      a session that is being created or removed, or was when a process crashed
//
// A call adds one segment. The segment is written under a temporary name, synced and renamed, and its directory is
// synced; then a line with its digest is appended to the manifest and synced. That line makes the segment part of the
// session: a crash before it leaves a segment without a line, which is ignored and moved aside by the next writer. Each
// line holds the hash of the line before it.
//
// Nothing is repaired in place. [Store.Health] reports the damage of a session, [Store.Salvage] reads the events that
// are left.
package session
