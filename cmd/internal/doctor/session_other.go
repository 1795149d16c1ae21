//go:build !linux

package doctor

// sessionPath returns "": the PATH of the desktop session is that of this process, or is known.
func sessionPath() string { return "" }
