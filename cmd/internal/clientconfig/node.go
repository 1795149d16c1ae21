package clientconfig

// kind is the type of a node.
type kind uint8

const (
	kindOther kind = iota // number, boolean, null, date
	kindString
	kindArray
	kindTable // a JSON object or a TOML table
)

// node is a value of a configuration file with its position in the text.
type node struct {
	kind       kind
	start, end int    // of the value; not set for a TOML table with a header
	text       string // of a string, unescaped; of a number or the like, as written
	items      []*node
	block      bool // of a YAML array that is written as lines with dashes
	members    []*member
}

// member is a name and a value in a table.
type member struct {
	name   string
	start  int    // of the key
	prefix string // the text before the last part of a dotted TOML key
	inline bool   // in a TOML inline table
	value  *node
}

// get returns the member with a name, or nil.
func (n *node) get(name string) *member {
	if n == nil {
		return nil
	}
	for _, m := range n.members {
		if m.name == name {
			return m
		}
	}
	return nil
}

// child returns the value of a member, or nil.
func (n *node) child(name string) *node {
	if m := n.get(name); m != nil {
		return m.value
	}
	return nil
}

// repeats reports whether a table has a name more than once.
func (n *node) repeats(name string) bool {
	count := 0
	for _, m := range n.members {
		if m.name == name {
			count++
		}
	}
	return count > 1
}

// strings returns the items of an array of strings.
func (n *node) strings() ([]string, bool) {
	if n == nil || n.kind != kindArray {
		return nil, false
	}
	list := make([]string, 0, len(n.items))
	for _, item := range n.items {
		if item.kind != kindString {
			return nil, false
		}
		list = append(list, item.text)
	}
	return list, true
}
