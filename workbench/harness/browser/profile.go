package browser

import (
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/candor-mcp/candor/internal/filelock"
)

// A profile is a folder below the temporary one. Its lock is held by the guard of its Chromium, so that a folder without a holder was
// left by a process that was killed.
const (
	profilePattern = "candor-browser-*"
	lockName       = "in-use"
)

// profileRoot is the folder of the profiles. Chromium puts a socket below its profile, and the system limits the length of its path.
func profileRoot() string {
	if root := os.TempDir(); len(root) <= 30 || runtime.GOOS == "windows" {
		return root
	}
	return "/tmp"
}

// lockProfile takes the lock of a profile.
func lockProfile(profile string) (*os.File, error) {
	root, err := os.OpenRoot(profile)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	return filelock.Open(root, lockName)
}

// removeLeftProfiles removes the profiles that killed processes have left behind. Young ones are left alone: their lock may not be taken
// yet.
func removeLeftProfiles() {
	left, err := filepath.Glob(filepath.Join(profileRoot(), profilePattern))
	if err != nil {
		return
	}
	for _, profile := range left {
		info, err := os.Lstat(profile)
		if err != nil || info.Mode() != os.ModeDir|0o700 {
			continue
		}
		if lock, err := os.Lstat(filepath.Join(profile, lockName)); err != nil || time.Since(lock.ModTime()) < time.Minute {
			continue
		}
		lock, err := lockProfile(profile)
		if err != nil {
			continue
		}
		_ = os.RemoveAll(profile)
		_ = lock.Close()
	}
}
