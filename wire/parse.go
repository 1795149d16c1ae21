package wire

import (
	"bytes"

	"github.com/candor-mcp/candor/internal/wireflaw"
)

// Parse reads one JSON-RPC unit. It always returns a message, malformed or not, which keeps data
// and changes nothing in it; the caller must not change data while the message is in use.
//
// One pass over the bytes, in linear time. A clean message costs no allocation unless one of its
// objects has more than 16 members.
func Parse(data []byte, lim Limits) (m Message) {
	m.raw = data
	var first index
	result := index{deeper: &first}
	root := index{deeper: &result, under: "result"}
	var s scanner
	s.init(data, lim)
	if most := lim.maxBytes(); len(data) > most {
		s.scanHead(most, &root)
	} else {
		m.root = s.text(s.begin(), &root)
	}
	p := parser{scanner: &s, m: &m}
	p.locate(&root)
	m.inResult, m.inFirst, m.firstList = result.places, first.places, result.list
	m.resultOwn = root.deeper == nil && !result.more && !p.duplicate && !m.result.empty()
	m.firstOwn = m.resultOwn && result.deeper == nil && !first.more
	p.judge()
	m.worst, m.found = s.verdict(), s.found
	return m
}

// headSize is the number of bytes of an oversized text that are scanned.
const headSize = 4096

// scanHead reads only the start of an oversized text, to find its id.
func (s *scanner) scanHead(most int, root *index) {
	s.data = s.data[:min(most, headSize)]
	s.text(s.begin(), root)
	s.halt = Malformation{Flaw: wireflaw.TooLarge, Offset: most}
	s.found = wireflaw.SetOf(wireflaw.TooLarge)
}

// parser builds a message from the members that a scan found.
type parser struct {
	*scanner
	m         *Message
	hasID     bool // there is an id, of any type
	unsureID  bool // there are several, or one in another case
	duplicate bool // a member of the message occurs twice
}

// locate assigns each member of the root.
func (p *parser) locate(root *index) {
	for i := range root.n {
		p.place(root.members[i])
	}
	if root.more && !p.m.root.empty() {
		for i := int(root.members[indexed-1].value.end); ; {
			at, next := memberAt(p.data, i)
			if next == stop {
				break
			}
			p.place(at)
			i = next
		}
	}
	if p.unsureID {
		p.m.id = span{}
	}
}

// place assigns a member, and notes a known name in the wrong case. Of duplicates, the first is kept.
func (p *parser) place(at member) {
	name := at.name.inside(p.data)
	slot := p.slot(name)
	if slot == nil {
		p.placeFolded(name, int(at.name.begin))
		return
	}
	if slot == &p.m.id {
		p.unsureID = p.unsureID || p.hasID
		p.hasID = true
	}
	if slot.empty() {
		*slot = at.value
	} else {
		p.duplicate = true
	}
}

func (p *parser) placeFolded(name []byte, at int) {
	known := foldedName(name, "jsonrpc", "id", "method", "params", "result", "error")
	if known == "" {
		return
	}
	p.note(wireflaw.FoldedName, at)
	p.unsureID = p.unsureID || known == "id"
}

// slot returns the field for the value under a name, or nil if the name is unknown.
func (p *parser) slot(name []byte) *span {
	at := p.plainSlot(name)
	if at == nil && bytes.IndexByte(name, '\\') >= 0 {
		at = p.plainSlot(unescape(nil, name))
	}
	return at
}

func (p *parser) plainSlot(name []byte) *span {
	switch string(name) {
	case "jsonrpc":
		return &p.m.version
	case "id":
		return &p.m.id
	case "method":
		return &p.m.method
	case "params":
		return &p.m.params
	case "result":
		return &p.m.result
	case "error":
		return &p.m.fault
	default:
		return nil
	}
}

// foldedName returns the known name that equals name if case is ignored. It folds like Unicode, as
// such peers do: U+017F is an s.
func foldedName(name []byte, known ...string) string {
	if bytes.IndexByte(name, '\\') >= 0 {
		name = unescape(nil, name)
	}
	for _, k := range known {
		if len(name) >= len(k) && len(name) <= 3*len(k) && bytes.EqualFold(name, []byte(k)) {
			return k
		}
	}
	return ""
}
