package schema

import (
	"slices"

	"github.com/candor-mcp/candor/internal/near"
)

// maxCandidates bounds the names that are compared with a misspelt one.
const maxCandidates = 256

// nearest returns the names that are most like key, the most similar first, those alike by name.
func nearest(key string, names []string) []string {
	names = slices.Sorted(slices.Values(names))
	return near.Names(key, names[:min(len(names), maxCandidates)])
}
