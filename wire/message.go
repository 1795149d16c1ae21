// Package wire reads JSON-RPC messages without decoding or changing them.
//
// # When do I need it?
//
// Use it in a program that forwards or inspects messages, such as a proxy or a test, and to make the values that
// packages dialect and contract read. A program that only builds or handles errors does not need it.
//
// # How do I start?
//
// [Parse] reads one message and [ParseValue] any JSON text. A [Value] gives access to the parts of either:
//
//	m := wire.Parse(line, wire.Limits{})
//	if err := m.Err(); err != nil {
//		return err
//	}
//	text, ok := m.Result().Path("content", 0, "text").Str()
//
// # What may I rely on?
//
//   - A [Message] is a view of the received bytes: [Message.Bytes] returns the bytes given to [Parse], ids and numbers keep their
//     spelling, members their order.
//   - Nothing is repaired or guessed. A malformed message has a [Malformation] that never quotes the peer. Its readable parts are
//     still available, so that it can be answered.
//   - Any bytes are safe to parse: no panic, linear time, bounded depth, and no memory beyond a table of names for objects with more
//     than 16 members.
//
// The package does no I/O and knows nothing about the meaning of methods, results and errors.
package wire

import (
	"bytes"
	"iter"

	"github.com/candor-mcp/candor/internal/wireflaw"
)

// Kind is the kind of a JSON-RPC message.
type Kind uint8

// The kinds. KindMalformed is the zero value.
const (
	KindMalformed    Kind = iota
	KindRequest           // method and id
	KindNotification      // method, no id
	KindResult            // a response with result
	KindError             // a response with error
)

// String returns a word for people: "malformed", "request", "notification", "result", "error".
func (k Kind) String() string {
	names := [...]string{"malformed", "request", "notification", "result", "error"}
	if int(k) < len(names) {
		return names[k]
	}
	return "unknown"
}

// Message is one JSON-RPC message: the received bytes and the positions of its members. It is a value and may be copied
// and read by several goroutines. It shares the memory of the parsed bytes, which must not change while it is in use.
// The zero Message is malformed and empty.
type Message struct {
	raw  []byte
	root span

	id, method, params, result, fault, version span

	shape     Kind
	found     wireflaw.Set
	worst     Malformation
	inResult  places // the first members of result
	inFirst   places // the first members of the first element of the first list in result
	firstList span   // the name of that list
	resultOwn bool   // inResult is complete for result
	firstOwn  bool   // inFirst is complete for that element
}

// Bytes returns exactly the bytes given to [Parse].
func (m *Message) Bytes() []byte { return m.raw }

// Kind returns the kind of the message, [KindMalformed] if it has any flaw.
func (m *Message) Kind() Kind {
	if m.found != 0 {
		return KindMalformed
	}
	return m.shape
}

// Shape returns the kind that the message has apart from its flaws, for callers that tolerate some of them or have to
// answer. It is [KindMalformed] if no kind fits.
func (m *Message) Shape() Kind { return m.shape }

// Flaws returns all the flaws that were found. A scan that had to stop finds none after that
// position.
func (m *Message) Flaws() wireflaw.Set { return m.found }

// Malformation returns the most serious flaw with its position, or the zero value for a clean message.
func (m *Message) Malformation() Malformation { return m.worst }

// Err returns [Message.Malformation] as an error, nil for a clean message.
func (m *Message) Err() error {
	if m.worst.Flaw == wireflaw.None {
		return nil
	}
	return m.worst
}

// ID returns the id as it was written. It is nil if the id is missing, has the wrong type, or is written more than once
// in any case. A truncated message has the id if it came before the end.
func (m *Message) ID() ID { return ID(m.part(m.id).raw) }

// Method returns the characters of method; nil if it is missing or not a string. The slice shares
// the message's memory unless the name is written with escapes.
func (m *Message) Method() []byte {
	name, _ := m.part(m.method).StrBytes()
	return name
}

// MethodIs reports whether the method is that name. It does not allocate.
func (m *Message) MethodIs(name string) bool { return m.part(m.method).Is(name) }

// Params returns the params member of any type, absent if missing.
func (m *Message) Params() Value { return m.part(m.params) }

// Result returns the result member of any type, absent if missing. A null result is present, unless there is an error too.
func (m *Message) Result() Value { return m.part(m.result) }

// Error returns the error member of any type, absent if missing, or if it is null beside a result.
func (m *Message) Error() Value { return m.part(m.fault) }

// Value returns the whole message as a value, absent if the scan had to stop. Unknown members are
// found here, and the messages of a batch.
func (m *Message) Value() Value { return m.part(m.root) }

// ResultMember returns a member of the result object. It is [Value.Get] on [Message.Result], but takes constant time,
// because Parse has recorded the positions of the members.
func (m *Message) ResultMember(name string) (Value, bool) {
	if !m.resultOwn {
		return m.Result().Get(name)
	}
	at, ok := m.inResult.get(m.raw, name)
	return m.part(at), ok
}

// ResultMembers yields the members of the result object in order, as [Value.Members] on [Message.Result] without a second scan.
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

// ResultFirst returns a member of the first element of a list in the result: Result().Path(list, 0, name), in constant
// time if the list is the first one there. Most results begin with a list of long texts.
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

// SplitBatch returns the messages of a batch, each ready for [Parse]. ok is false if the message is not a batch.
func (m *Message) SplitBatch() (units [][]byte, ok bool) {
	if !m.found.Has(wireflaw.Batch) {
		return nil, false
	}
	for unit := range m.Value().Elements() {
		units = append(units, unit.Raw())
	}
	return units, true
}

// Clone returns a copy that does not share the memory of the parsed bytes.
func (m *Message) Clone() Message {
	c := *m
	c.raw = bytes.Clone(m.raw)
	return c
}
