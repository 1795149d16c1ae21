// Package crashfs is an in-memory file system for tests of durability. It can lose power, run full, fail, and report
// success although data is not on the disk.
//
// It guarantees only what POSIX specifies and disks provide: bytes are durable after a successful Sync of their file,
// names after a SyncDir of their folder. Everything else may or may not exist after [FS.Crash], sector by sector and
// name by name, whatever the order of the writes. After a failed Sync later reads and Syncs succeed, although the
// data may never have reached the disk.
package crashfs
