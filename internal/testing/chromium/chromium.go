// Package chromium finds the browser in which tests open pages.
package chromium

import (
	"os/exec"
	"testing"
)

// Find returns the path of a Chromium or Chrome on the PATH.
func Find() (path string, ok bool) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "headless_shell"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, true
		}
	}
	return "", false
}

// Path is like [Find], and skips the test without a browser; .ci/run installs one and allows no skips.
func Path(tb testing.TB) string {
	tb.Helper()
	path, ok := Find()
	if !ok {
		tb.Skip("no Chromium on the PATH: the page was not tried in a browser")
	}
	return path
}
