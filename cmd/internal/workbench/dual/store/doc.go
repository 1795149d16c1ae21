// Package store keeps tasks, thought records, audit sessions, rounds of votes, outcomes and measured calls in one
// SQLite database. Every change is one transaction: after a crash it is complete or absent.
//
// Several processes may use a database at the same time. A change waits for the others for a limited time and then
// fails with [ErrBusy].
package store
