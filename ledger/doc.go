// Package ledger keeps a durable, tamper-evident trail that is written before the reply.
//
// # Writing
//
// [Open] a folder, [Ledger.Append] an [Entry], and send the reply when Append has returned: by then the entry is on the disk.
// Everything that queued while the last sync ran goes out with one write and one sync, so many callers share the price of one.
// An effect that must not happen unrecorded takes two entries: [Ledger.Reserve] before it, [Effect.Complete] after it. What was
// reserved and never completed is named by whoever opens the folder after a crash.
//
// If the ledger cannot record, Append says so with AUDIT_LOG_FAILED or AUDIT_LOCK_FAILED and the caller leaves the effect undone.
// [PolicyOpen] turns that round: the call goes on, and the next entry that can be written says how many are missing.
//
// # What it proves
//
// One writer owns one chain, from its start to its end. Each line holds the hash of its own bytes and of the line before, so
// that a changed, moved or missing line shows. A Merkle tree stands over the lines, and its root is signed at most a second or 256
// entries after an entry was written, into the folder and into a second place that the operator names, so that a cut tail or a folder
// rolled back shows too. The format is written down in spec/ledger.md, for whoever wants to verify without this package.
//
// # What is never in it
//
// Arguments are kept as a keyed digest only. All other text is redacted and bounded before it is hashed.
package ledger
