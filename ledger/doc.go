// Package ledger keeps a durable, tamper-evident log of failures and effects that is written before the reply is
// sent.
//
// # How do I write to it?
//
// [Open] a folder, [Ledger.Append] an [Entry], and send the reply after [Ledger.Append] has returned: the entry is then on the
// disk. Entries that are queued during a sync are written together with one write and one sync. Several processes may
// open the same folder.
//
// # How do I record an effect?
//
// Call [Ledger.Reserve] before the effect and [Effect.Complete] after it. If the process crashes in between, the next
// process that opens the folder records the reservation as unfinished.
//
// # What happens if an entry cannot be recorded?
//
// Append returns AUDIT_LOG_FAILED or AUDIT_LOCK_FAILED, and the caller must not perform the effect.
//
// # How do I read it?
//
// [OpenReader] and [Reader.Entries] read a folder while it is being written. Package export writes entries in other
// formats and counts them, package verify checks a whole ledger, and package proof proves single entries.
//
// # What does it prove?
//
// Each writer has one chain. Each line holds its own hash and the hash of the line before it, so that a changed,
// moved or missing line is found. The lines are the leaves of a Merkle tree. Its root is signed at most one second or
// 256 entries after an entry was written, and is stored in the folder and in the witness copy, a second file that the
// operator chooses ([Options.WitnessCopy]). The witness copy shows that entries were cut off the end, or that the
// folder was replaced by an older one. spec/ledger.md describes the format.
//
// # What is never stored?
//
// Arguments are stored only as a keyed digest. All other text is redacted and limited in length before it is hashed.
package ledger
