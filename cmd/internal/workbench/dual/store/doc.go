// Package store keeps tasks, thought records, audit sessions, rounds of votes, outcomes and measured calls in one SQLite database. Every
// change is one transaction: after a crash it is there as a whole, or not at all.
//
// Several processes may use a database at the same time. A change waits for the others for a bounded time and fails with [ErrBusy] then.
package store
