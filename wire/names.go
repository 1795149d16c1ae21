package wire

import (
	"bytes"
	"hash/maphash"
	"sync"
)

// Duplicate names are found without allocation for ordinary objects and without quadratic cost for
// hostile ones:
//
//   - The names of all open objects of up to smallObject members lie on one fixed stack of
//     marks. A new name is compared with the marks of its object.
//   - A larger object, or one that finds the stack full, uses a hash table. The hash is
//     seeded per process, so that colliding names cannot be prepared.
//
// Names are compared unescaped: "id" and "\u0069d" are the same name.
const (
	smallObject = 16
	stackDepth  = 32
)

// markStack holds the marks of all open small objects, innermost last.
type markStack struct {
	marks [stackDepth]mark
	n     int
}

// mark is a name with a hash of its characters.
type mark struct {
	print uint64
	name  span
}

// nameSet holds the names of one open object: the marks from base up, or the table.
type nameSet struct {
	base  int
	table nameTable
}

func (s *scanner) openNames() nameSet { return nameSet{base: s.marks.n} }

// closeNames releases the names of an object.
func (s *scanner) closeNames(names *nameSet) {
	s.marks.n = names.base
	if names.table != nil && len(names.table) < tableKeep {
		clear(names.table)
		nameTables.Put(names.table)
	}
	names.table = nil
}

// addName adds the name of a member, given with its quotes, and reports whether it is new.
func (s *scanner) addName(names *nameSet, name span, escaped bool) bool {
	if names.table != nil {
		return names.table.add(s.data, name)
	}
	sum := namePrint(s.data, name, escaped)
	own := s.marks.marks[names.base:s.marks.n]
	for i := range own {
		if own[i].print == sum && sameName(name.inside(s.data), own[i].name.inside(s.data)) {
			return false
		}
	}
	if len(own) < smallObject && s.marks.n < stackDepth {
		s.marks.marks[s.marks.n] = mark{sum, name}
		s.marks.n++
		return true
	}
	names.table, _ = nameTables.Get().(nameTable)
	for i := range own {
		names.table.add(s.data, own[i].name)
	}
	s.marks.n = names.base
	return names.table.add(s.data, name)
}

// namePrint returns a short hash of a name.
func namePrint(data []byte, name span, escaped bool) uint64 {
	in := name.inside(data)
	if escaped {
		var space [64]byte
		return printOf(unescape(space[:0], in))
	}
	if begin := int(name.begin) + 1; len(in) < 8 && begin+8 <= len(data) {
		return load(data, begin)&(1<<(8*len(in))-1) | uint64(len(in))<<56
	}
	return printOf(in)
}

func printOf(in []byte) uint64 {
	n := len(in)
	if n >= 8 {
		return (load(in, 0) ^ load(in, n-8)*ones) ^ uint64(n)<<56
	}
	sum := uint64(n) << 56
	for i, c := range in {
		sum |= uint64(c) << (8 * i)
	}
	return sum
}

// sameName compares the unescaped contents of two strings.
func sameName(a, b []byte) bool {
	if bytes.IndexByte(a, '\\') < 0 && bytes.IndexByte(b, '\\') < 0 {
		return bytes.Equal(a, b)
	}
	var sa, sb [64]byte
	return bytes.Equal(unescape(sa[:0], a), unescape(sb[:0], b))
}

// nameTable is the set of the names of a large object: the offset of the opening quote by the hash of the name.
type nameTable map[uint64]uint32

// tableKeep is the size from which a table is left to the collector.
const tableKeep = 1 << 12

var (
	nameSeed   = maphash.MakeSeed()
	nameTables = sync.Pool{New: func() any { return nameTable{} }}
)

// add reports whether the name is new.
func (t nameTable) add(data []byte, name span) bool {
	in := name.inside(data)
	hash := nameHash(in)
	if at, taken := t[hash]; taken {
		return !sameName(in, spanOf(int(at), stringEnd(data, int(at))).inside(data)) // hash collisions are rare
	}
	t[hash] = name.begin
	return true
}

func nameHash(inside []byte) uint64 {
	if bytes.IndexByte(inside, '\\') >= 0 {
		var space [64]byte
		inside = unescape(space[:0], inside)
	}
	return maphash.Bytes(nameSeed, inside)
}
