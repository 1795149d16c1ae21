package export

import (
	"maps"
	"slices"
	"strings"

	"github.com/candor-mcp/candor/ledger"
)

// chainServers counts the failures in chains of candor wrap. Such a chain is written by one process for one server. Its
// first entries may have the name of the package, because a server says its own name only when it answers initialize.
type chainServers map[string]*chainServer

type chainServer struct {
	name  string // the last one in the chain
	count uint64
}

// wrapInstance is the instance of candor wrap, and the server of an entry without one. wrapPrefix begins the names of its chains.
const (
	wrapInstance = "wrap"
	wrapPrefix   = wrapInstance + "-"
)

// watch returns a filter that also notes the name in each entry, whether or not the entry is kept.
func (s chainServers) watch(keep func(*ledger.Line) bool) func(*ledger.Line) bool {
	return func(l *ledger.Line) bool {
		if l.Kind == ledger.KindFailure || l.Kind == ledger.KindAttempt {
			if chain := l.Chain(); strings.HasPrefix(chain, wrapPrefix) {
				if s[chain] == nil {
					s[chain] = &chainServer{}
				}
				if name := l.Server(); name != wrapInstance || s[chain].name == "" {
					s[chain].name = name
				}
			}
		}
		return keep == nil || keep(l)
	}
}

// count counts a failure that watch has noted. It returns false for chains of several servers.
func (s chainServers) count(l *ledger.Line) bool {
	c := s[l.Chain()]
	if c != nil {
		c.count++
	}
	return c != nil
}

// addTo adds the counts to buckets. The order is fixed, because the number of buckets is limited.
func (s chainServers) addTo(counts map[string]uint64) {
	for _, chain := range slices.Sorted(maps.Keys(s)) {
		if c := s[chain]; c.count > 0 {
			addBucket(counts, c.name, c.count)
		}
	}
}
