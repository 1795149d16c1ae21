//go:build !unix

package natsstore

import "io/fs"

// readByOthers returns false: the mode of a file means nothing here.
func readByOthers(fs.FileInfo) bool { return false }
