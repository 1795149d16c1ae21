//go:build unix

package natsstore

import (
	"io/fs"
	"syscall"
	"testing"
)

// described is a file with a mode and an owner.
type described struct {
	fs.FileInfo
	mode fs.FileMode
	uid  uint32
}

func (d described) Mode() fs.FileMode { return d.mode }
func (d described) Sys() any          { return &syscall.Stat_t{Uid: d.uid} }

// TestGroupMayReadASecretOfRoot checks the mode that Kubernetes gives to secrets of pods that are not root.
func TestGroupMayReadASecretOfRoot(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mode fs.FileMode
		uid  uint32
		want bool
	}{{0o600, 1000, false}, {0o400, 0, false}, {0o440, 0, false}, {0o440, 1000, true}, {0o460, 0, true}, {0o444, 0, true}, {0o644, 1000, true}} {
		if got := readByOthers(described{mode: c.mode, uid: c.uid}); got != c.want {
			t.Errorf("mode %o of user %d: %v, want %v", c.mode, c.uid, got, c.want)
		}
	}
}
