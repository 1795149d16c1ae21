package wire

// span is a part of some bytes. The bytes are at most 1 GiB, see Limits.
type span struct{ begin, end uint32 }

func spanOf(begin, end int) span { return span{uint32(begin), uint32(end)} } //nolint:gosec // bounded by Limits

func (p span) empty() bool { return p.end <= p.begin }

func (p span) in(b []byte) []byte { return b[p.begin:p.end:p.end] }

// inside is the part without its first and last byte: a string without its quotes.
func (p span) inside(b []byte) []byte { return unquoted(b[p.begin:p.end]) }

// unquoted returns the text between the quotes, or an empty span for a text without quotes.
func unquoted(str []byte) []byte {
	if len(str) < 2 {
		return nil
	}
	return str[1 : len(str)-1 : len(str)-1]
}

// member is the position of a name, with its quotes, and of its value.
type member struct{ name, value span }

// indexed is the number of members in an index. A JSON-RPC message has four.
const indexed = 8

// places holds the positions of the first members of one object. The scan fills it, so that reading them needs no second walk.
type places struct {
	members [indexed]member
	n       int  // members filled
	more    bool // the object has others
}

// get returns the position of the value under name, or of the first of several.
func (x *places) get(data []byte, name string) (span, bool) {
	for i := range x.n {
		if at := x.members[i]; namedInside(at.name.inside(data), name) {
			return at.value, true
		}
	}
	return span{}, false
}

// index is filled by a scan. deeper is the index of a member with a given name, or of the first object in the first list.
type index struct {
	places
	deeper *index // may be nil; used by the first member that matches
	under  string // the name of the member it is for; "" is for the first list
	list   span   // the name of the list that took deeper
}

func (x *index) add(name, value span) {
	if x.n == indexed {
		x.more = true
		return
	}
	x.members[x.n] = member{name, value}
	x.n++
}

// child returns the index for the value that begins at i under name, or nil. Only the first match is indexed.
func (x *index) child(data []byte, name span, i int) *index {
	if x == nil || x.deeper == nil || i >= len(data) {
		return nil
	}
	if isList := data[i] == '['; isList != (x.under == "") {
		return nil
	}
	if x.under == "" {
		x.list = name
	} else if string(name.inside(data)) != x.under {
		return nil
	}
	deeper := x.deeper
	x.deeper = nil
	return deeper
}
