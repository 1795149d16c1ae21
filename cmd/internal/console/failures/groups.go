package failures

import (
	"encoding/binary"

	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/ledger"
)

// Limits on the names that are kept in memory, whatever an upstream calls its tools: about 60 MB at most. The names of
// further failures are read from the ledger when a filter needs them, and are counted as "other".
var (
	maxGroups     = 1 << 17
	maxGroupBytes = 16 << 20
	spareGroups   = 1 << 12 // for groups without the name of their tool
)

// group is a combination of names that failures have in common. A filter is compared with a group once, and not with
// each of its failures.
type group struct {
	server, tool, code, class, verdict, origin, outcome string
	// more is true if the failures of the group differ in their tools, noted as other, because there are too many; all is
	// true if they differ in the other names too.
	more, all bool
}

// names returns the members that are counted and stored.
func (g *group) names() [7]*string {
	return [7]*string{&g.server, &g.tool, &g.code, &g.class, &g.verdict, &g.origin, &g.outcome}
}

// groups numbers the combinations of names. It is not safe for concurrent use, but list may be read up to a length that
// was read together with it.
type groups struct {
	list  []group
	ids   map[string]uint32
	bytes int
	key   []byte
}

func newGroups() *groups { return &groups{ids: map[string]uint32{}} }

// id returns the number of the group of a failure. It allocates only if the group is new.
func (g *groups) id(f *fields) uint32 {
	return g.intern([7][]byte{f.server, f.tool, f.code, f.class, f.verdict, f.origin, f.outcome}, 0)
}

// add returns the number of a group of another table.
func (g *groups) add(x *group) uint32 {
	var names [7][]byte
	for i, name := range x.names() {
		names[i] = []byte(*name)
	}
	level := byte(0)
	switch {
	case x.all:
		level = 2
	case x.more:
		level = 1
	}
	return g.intern(names, level)
}

// intern returns the number of a group. Level 1 leaves out the tool, and level 2 all names.
func (g *groups) intern(names [7][]byte, level byte) uint32 {
	for ; ; level++ {
		switch level {
		case 1:
			names[1] = []byte(Other)
		case 2:
			masked := string(names[4]) == string(contract.VerdictMasked) // masked and suspected failures are always counted
			for i := range names[:6] {
				if i != 4 || !masked {
					names[i] = []byte(Other)
				}
			}
			if string(names[6]) != string(ledger.OutcomeSuspected) {
				names[6] = nil
			}
		}
		g.key = append(g.key[:0], level)
		for _, name := range names {
			g.key = append(binary.AppendUvarint(g.key, uint64(len(name))), name...)
		}
		if id, ok := g.ids[string(g.key)]; ok {
			return id
		}
		if level == 2 || g.room(level) {
			return g.insert(string(g.key), level)
		}
	}
}

func (g *groups) room(level byte) bool {
	if level == 0 {
		return len(g.list) < maxGroups && g.bytes+len(g.key) < maxGroupBytes
	}
	return len(g.list) < maxGroups+spareGroups && g.bytes+len(g.key) < maxGroupBytes+(2<<20)
}

// insert adds a group whose names share the memory of its key.
func (g *groups) insert(key string, level byte) uint32 {
	x := group{more: level > 0, all: level > 1}
	rest := key[1:]
	for _, name := range x.names() {
		size, n := binary.Uvarint([]byte(rest[:min(len(rest), binary.MaxVarintLen64)]))
		rest = rest[n:]
		*name, rest = rest[:size], rest[size:]
	}
	id := uint32(len(g.list)) //nolint:gosec // limited by maxGroups
	g.list = append(g.list, x)
	g.ids[key] = id
	g.bytes += len(key)
	return id
}
