package wire

// span is a part of some bytes. The bytes are at most 1 GiB, see Limits.
type span struct{ begin, end uint32 }

func spanOf(begin, end int) span { return span{uint32(begin), uint32(end)} } //nolint:gosec // bounded by Limits

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

// indexed is the number of members in an index. A JSON-RPC message has four.
const indexed = 8

// places are where the first members of one object stand, filled by the scan that checks them, so that reading them
// later costs no second walk.
type places struct {
	members [indexed]member
	n       int  // members filled
	more    bool // there were others
}

// get returns the place of the value under name; of two with one name the first.
func (x *places) get(data []byte, name string) (span, bool) {
	for i := range x.n {
		if at := x.members[i]; namedInside(at.name.inside(data), name) {
			return at.value, true
		}
	}
	return span{}, false
}

// index is filled by a scan and leads it on to the next index: that of a member with a given name, or of the first object
// in the first list.
type index struct {
	places
	deeper *index // may be nil; taken by the first member that fits
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

// child returns the index for the value that begins at i under name, or nil. If two fit, only the first is indexed.
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
