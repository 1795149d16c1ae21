package wire

import (
	"bytes"
	"hash/maphash"
	"sync"
)

// How names that come twice are found, without memory for ordinary objects and without a
// quadratic cost for hostile ones:
//
//   - The names of all open objects of up to smallObject members lie on one fixed stack of
//     marks. A new name is compared with the marks of its object.
//   - An object that outgrows that, or finds the stack full, moves to a hash table. The hash is
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

// mark is a name with a print of its characters that is cheap to compare.
type mark struct {
	print uint64
	name  span
}

// nameSet is the names of one open object: the marks from base up, or the table.
type nameSet struct {
	base  int
	table *nameTable
}

func (s *scanner) openNames() nameSet { return nameSet{base: s.marks.n} }

// closeNames gives back what the object held. The marks of objects inside it are gone already.
func (s *scanner) closeNames(names *nameSet) {
	s.marks.n = names.base
	if names.table != nil {
		names.table.release()
		names.table = nil
	}
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
	names.table = newNameTable()
	for i := range own {
		names.table.add(s.data, own[i].name)
	}
	s.marks.n = names.base
	return names.table.add(s.data, name)
}

// namePrint is equal for equal names; unequal ones rarely share it.
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

// nameTable is an open-addressed set of names, at most seven eighths full. A slot holds the hash of a name, so that neither a
// look at another name nor growing goes back to the text: in a large object each of those would miss the cache.
type nameTable struct {
	slots []slot
	n     int
}

// slot is the hash of a name, and one more than the offset of its opening quote; 0 is an empty slot.
type slot struct{ hash, at uint32 }

const (
	tableStart = 128
	tableKeep  = 1 << 13 // a larger table is left to the collector
)

var (
	nameSeed   = maphash.MakeSeed()
	nameTables = sync.Pool{New: func() any { return &nameTable{slots: make([]slot, tableStart)} }}
)

func newNameTable() *nameTable {
	t, ok := nameTables.Get().(*nameTable)
	if !ok {
		return &nameTable{slots: make([]slot, tableStart)}
	}
	return t
}

func (t *nameTable) release() {
	if len(t.slots) > tableKeep {
		return
	}
	clear(t.slots)
	t.n = 0
	nameTables.Put(t)
}

// add reports whether the name is new.
func (t *nameTable) add(data []byte, name span) bool {
	if 8*(t.n+1) > 7*len(t.slots) {
		t.grow()
	}
	in := name.inside(data)
	hash := nameHash(in)
	i := t.home(hash)
	for ; t.slots[i].at != 0; i = t.next(i) {
		if t.slots[i].hash == hash && sameName(in, nameAt(data, t.slots[i].at-1).inside(data)) {
			return false
		}
	}
	t.slots[i] = slot{hash, name.begin + 1}
	t.n++
	return true
}

// home is where the search for a hash begins, next where it goes on.
func (t *nameTable) home(hash uint32) int { return int(hash) & (len(t.slots) - 1) }

func (t *nameTable) next(i int) int { return (i + 1) & (len(t.slots) - 1) }

func (t *nameTable) grow() {
	old := t.slots
	t.slots = make([]slot, 2*len(old))
	for _, s := range old {
		if s.at == 0 {
			continue
		}
		i := t.home(s.hash)
		for t.slots[i].at != 0 {
			i = t.next(i)
		}
		t.slots[i] = s
	}
}

func nameAt(data []byte, begin uint32) span {
	return spanOf(int(begin), stringEnd(data, int(begin)))
}

func nameHash(inside []byte) uint32 {
	if bytes.IndexByte(inside, '\\') >= 0 {
		var space [64]byte
		inside = unescape(space[:0], inside)
	}
	return uint32(maphash.Bytes(nameSeed, inside) >> 32) //nolint:gosec // the shift leaves 32 bits
}
