// Package crashfs is a file system in memory that can lose power, run full, fail and lie, for testing what must survive all that.
//
// It promises no more than POSIX does and disks keep: bytes are durable after a Sync of their file that succeeded, names after a
// SyncDir of their folder. Everything else may or may not be there after [FS.Crash], sector by sector and name by name, whatever the
// order in which it was written. After a failed Sync the cache says that all is well, and the disk may never have seen it.
package crashfs
