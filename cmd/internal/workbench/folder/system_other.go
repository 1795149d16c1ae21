//go:build !unix

package folder

import "io/fs"

const NonBlock = 0

func isNotFolder(error) bool { return false }

// Links always returns 1, so that hard links are not recognised on this system.
func Links(fs.FileInfo) uint64 { return 1 }
