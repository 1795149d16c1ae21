package browser

import (
	"os"
	"runtime"
)

// profilePrefix begins the names of the profiles, which are temporary folders. The guard of a Chromium holds the lock of its profile.
const profilePrefix = "candor-browser-"

// profileRoot is the folder of the profiles. Chromium puts a socket below its profile, and the system limits the length of its path.
func profileRoot() string {
	if root := os.TempDir(); len(root) <= 30 || runtime.GOOS == "windows" {
		return root
	}
	return "/tmp"
}
