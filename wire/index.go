package wire

// span is a part of some bytes. The bytes are at most 1 GiB, see Limits.
type span struct{ begin, end uint32 }

func spanOf(begin, end int) span { return span{uint32(begin), uint32(end)} }

func (p span) empty() bool { return p.end <= p.begin }

func (p span) in(b []byte) []byte { return b[p.begin:p.end:p.end] }

// inside is the part without its first and last byte: a string without its quotes.
func (p span) inside(b []byte) []byte { return unquoted(b[p.begin:p.end]) }

// unquoted is total: what is too short to have quotes has nothing between them.
func unquoted(str []byte) []byte {
	if len(str) < 2 {
		return nil
	}
	return str[1 : len(str)-1 : len(str)-1]
}

// member is the place of a name, with its quotes, and of its value.
type member struct{ name, value span }

// indexed is how many members an index has room for. A JSON-RPC unit has four.
const indexed = 8

// index holds the places of the first members of one object, filled by the scan that checks
// them, so that reading them later costs no second walk.
type index struct {
	members [indexed]member
	n       int    // members filled
	more    bool   // there were others
	deeper  *index // takes the members of the member called deeperName, may be nil
}

// deeperName is the member of a message whose own members are indexed too.
const deeperName = "result"

func (x *index) add(name, value span) {
	if x.n == indexed {
		x.more = true
		return
	}
	x.members[x.n] = member{name, value}
	x.n++
}

// child returns the index for the members of the value under name, or nil.
func (x *index) child(data []byte, name span) *index {
	if x == nil || x.deeper == nil || string(name.inside(data)) != deeperName {
		return nil
	}
	deeper := x.deeper
	x.deeper = nil // of two such members only the first is indexed
	return deeper
}
