//go:build !unix

package folder

const nonBlock = 0

func isNotFolder(error) bool { return false }
