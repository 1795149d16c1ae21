// Package wire reads and edits JSON-RPC as bytes. It is the floor that the rest of Candor stands
// on, and it knows nothing of what a method, a result or an error means.
//
// The rules of the room:
//
//   - What was received is kept. A [Message] is a view: [Message.Bytes] returns the very bytes
//     given to [Parse], ids and numbers keep their spelling, members their order.
//   - Nothing is repaired and nothing is guessed. What is wrong has a name, a [Flaw], and a place;
//     the set of names is closed. Reasons never echo what the peer wrote.
//   - A malformed message still offers what could be read, so that it can be answered.
//   - Any bytes are safe to parse: no panic, linear time, bounded depth, and no memory beyond a
//     table of names for objects with more than 16 members.
//   - No clock, no goroutine, and no input or output but the reader or writer the caller gives.
//
// [Parse] reads one unit, [ParseValue] any JSON. [Value] is for looking into either without
// decoding. [SetMember] and its siblings change one place and leave every other byte alone.
// [LineReader] and [EventReader] cut streams into frames.
package wire

import (
	"bytes"
	"iter"
)

// Kind says which of the JSON-RPC units a message is.
type Kind uint8

// The kinds. KindMalformed is the zero value: a message nobody has looked at is not clean.
const (
	KindMalformed    Kind = iota
	KindRequest           // method and id
	KindNotification      // method, no id
	KindResult            // a response with result
	KindError             // a response with error
)

// String returns a word for people: "malformed", "request", "notification", "result", "error".
func (k Kind) String() string {
	switch k {
	case KindRequest:
		return "request"
	case KindNotification:
		return "notification"
	case KindResult:
		return "result"
	case KindError:
		return "error"
	case KindMalformed:
		return "malformed"
	default:
		return "unknown"
	}
}

// Message is one JSON-RPC unit as the bytes it came in, with the places of its members. It is a
// value and may be copied and read from many goroutines. It shares the memory of the parsed
// bytes: it is good for as long as those are not changed. The zero Message is malformed and
// empty.
type Message struct {
	raw  []byte
	root span

	id, method, params, result, fault, version span

	shape     Kind
	found     Flaws
	worst     Malformation
	inResult  places // the first members of result
	inFirst   places // the first members of the first element of the first list in result
	firstList span   // the name of that list
	resultOwn bool   // inResult is complete for result
	firstOwn  bool   // inFirst is complete for that element
}

// Bytes returns exactly the bytes given to [Parse].
func (m *Message) Bytes() []byte { return m.raw }

// Kind returns what the message is, [KindMalformed] if it has any flaw.
func (m *Message) Kind() Kind {
	if m.found != 0 {
		return KindMalformed
	}
	return m.shape
}

// Shape returns what the message looks like in spite of its flaws, for a caller that tolerates
// some of them or has to answer. It is KindMalformed if it looks like nothing in particular.
func (m *Message) Shape() Kind { return m.shape }

// Flaws returns all the flaws that were found. A scan that had to stop finds none behind that
// place.
func (m *Message) Flaws() Flaws { return m.found }

// Malformation returns the gravest flaw with its place; the zero value for a clean message.
func (m *Message) Malformation() Malformation { return m.worst }

// Err returns [Message.Malformation] as an error, nil for a clean message.
func (m *Message) Err() error {
	if m.worst.Flaw == FlawNone {
		return nil
	}
	return m.worst
}

// ID returns the id as it was written, nil if there is none or if it is not certain: of the wrong
// type, or written more than once in any case. A message that breaks off offers the id that stood
// before the break, and one with something behind it offers its own.
func (m *Message) ID() ID { return ID(m.part(m.id).raw) }

// Method returns the characters of method; nil if it is missing or not a string. The slice shares
// the message's memory unless the name is written with escapes.
func (m *Message) Method() []byte {
	name, _ := m.part(m.method).StrBytes()
	return name
}

// MethodIs reports whether the method is that name. It does not allocate.
func (m *Message) MethodIs(name string) bool { return m.part(m.method).Is(name) }

// Params returns the params member of whatever type, absent if missing.
func (m *Message) Params() Value { return m.part(m.params) }

// Result returns the result member of whatever type, absent if missing. A null result is present, unless there is an error too.
func (m *Message) Result() Value { return m.part(m.result) }

// Error returns the error member of whatever type, absent if missing, or if it is null beside a result.
func (m *Message) Error() Value { return m.part(m.fault) }

// Value returns the whole message as a value, absent if the scan had to stop. Unknown members are
// found here, and the messages of a batch.
func (m *Message) Value() Value { return m.part(m.root) }

// ResultMember returns a member of the result object. It is [Value.Get] on [Message.Result]
// without the walk: the scan has noted where the members are.
func (m *Message) ResultMember(name string) (Value, bool) {
	if !m.resultOwn {
		return m.Result().Get(name)
	}
	at, ok := m.inResult.get(m.raw, name)
	return m.part(at), ok
}

// ResultMembers yields the members of the result object in order, as [Value.Members] on [Message.Result] without the walk.
func (m *Message) ResultMembers() iter.Seq2[Value, Value] {
	return func(yield func(name, value Value) bool) {
		if !m.resultOwn {
			m.Result().eachMember(yield)
			return
		}
		for i := range m.inResult.n {
			at := m.inResult.members[i]
			if !yield(m.part(at.name), m.part(at.value)) {
				return
			}
		}
	}
}

// ResultFirst returns a member of the first element of a list in the result: Result().Path(list, 0, name), without the walk if
// the list is the first one there. Lists of text come first in most results, and their texts are long.
func (m *Message) ResultFirst(list, name string) (Value, bool) {
	if !m.firstOwn || !namedInside(m.firstList.inside(m.raw), list) {
		v := m.Result().Path(list, 0, name)
		return v, v.Present()
	}
	at, ok := m.inFirst.get(m.raw, name)
	return m.part(at), ok
}

func (m *Message) part(p span) Value {
	if p.empty() {
		return Value{}
	}
	return Value{raw: p.in(m.raw)}
}

// SplitBatch returns the units of a batch, each ready for [Parse], and whether the message is a
// batch at all. An empty batch has none.
func (m *Message) SplitBatch() (units [][]byte, ok bool) {
	if !m.found.Has(FlawBatch) {
		return nil, false
	}
	for unit := range m.Value().Elements() {
		units = append(units, unit.Raw())
	}
	return units, true
}

// Clone returns the message over memory of its own.
func (m *Message) Clone() Message {
	c := *m
	c.raw = bytes.Clone(m.raw)
	return c
}
