// Package rootdigest makes digests of workspace roots, so that roots can be compared without showing the path.
package rootdigest

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

const (
	prefix = "sha256:" // marks a root of which only the digest is known
	bytes  = 8

	// Size is the length of a digest.
	Size = len(prefix) + 2*bytes
)

// Of returns the digest of a root. The digest of "" is "", and the digest of a digest is itself.
func Of(root string) string {
	if root == "" {
		return ""
	}
	return string(Append(nil, root))
}

// Append appends the digest of a root. It does not allocate for a root of up to 8 KiB.
func Append(dst []byte, root string) []byte {
	if is(root) {
		return append(dst, root...)
	}
	var space [8 << 10]byte
	sum := sha256.Sum256(append(space[:0], root...))
	return hex.AppendEncode(append(dst, prefix...), sum[:bytes])
}

// is reports whether root is exactly a digest. A path that only begins like one must not be shown.
func is(root string) bool {
	digits, ok := strings.CutPrefix(root, prefix)
	return ok && len(digits) == 2*bytes && strings.Trim(digits, "0123456789abcdef") == ""
}
