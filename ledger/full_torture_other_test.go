//go:build !linux

package ledger_test

import "testing"

// fullRole needs a file system in memory, which only Linux can mount without privileges.
func fullRole(*testing.T, string) {}
