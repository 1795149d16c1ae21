package wire

import (
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"
)

// What a splice can refuse besides a [Malformation]. Compare with errors.Is.
var (
	// ErrNoPath says that the path leads through something that is no object, or to a position
	// an array does not have.
	ErrNoPath = errors.New("the path does not lead to a place in the document")
	// ErrAmbiguous says that a name on the path is written twice, so that there is no one place.
	ErrAmbiguous = errors.New("a name on the path is written twice")
)

// SetMember appends doc to dst with the member at path set to value, and returns the longer
// slice. Every other byte, white space included, stays as it is.
//
// Names on the path are compared with what the written names stand for. A member that exists has
// its value replaced; one that does not is added as the last of its object, and objects missing
// on the way are made. In an array a step is the decimal position of an element that exists. An
// empty path replaces the whole value.
//
// Both doc and value must be one JSON text each within the default limits, or the error is a
// [Malformation] and dst comes back unchanged; so it does with [ErrNoPath] and [ErrAmbiguous].
// dst must not share memory with doc or value. Linear in their length.
func SetMember(dst, doc []byte, path []string, value []byte) ([]byte, error) {
	v, err := ParseValue(value, Limits{})
	if err != nil {
		return dst, fmt.Errorf("reading the value to set: %w", err)
	}
	return splice(dst, doc, func(root Value) (edit, error) { return setting(root, path, v) })
}

// RemoveMember appends doc to dst without the member at path and the comma that belonged to it. A
// member that is not there is no error. The rest is as with [SetMember]; an empty path, or one
// that ends in an array, is [ErrNoPath].
func RemoveMember(dst, doc []byte, path []string) ([]byte, error) {
	return splice(dst, doc, func(root Value) (edit, error) { return removing(root, path) })
}

// InsertElement appends doc to dst with value inserted into the array at path, before the element
// now at position at; at equal to the length, or -1, appends. The rest is as with [SetMember];
// what is not an array, or has no such position, is [ErrNoPath].
func InsertElement(dst, doc []byte, path []string, at int, value []byte) ([]byte, error) {
	v, err := ParseValue(value, Limits{})
	if err != nil {
		return dst, fmt.Errorf("reading the element to insert: %w", err)
	}
	return splice(dst, doc, func(root Value) (edit, error) { return inserting(root, path, at, v) })
}

// AppendSet is [SetMember] on a value that has been parsed already: neither v nor value is
// checked again, and v may be larger than the default limits.
func (v Value) AppendSet(dst []byte, path []string, value Value) ([]byte, error) {
	return v.spliced(dst, func(root Value) (edit, error) { return setting(root, path, value) })
}

// AppendRemove is [RemoveMember] on a value that has been parsed already.
func (v Value) AppendRemove(dst []byte, path []string) ([]byte, error) {
	return v.spliced(dst, func(root Value) (edit, error) { return removing(root, path) })
}

// AppendInsert is [InsertElement] on a value that has been parsed already.
func (v Value) AppendInsert(dst []byte, path []string, at int, value Value) ([]byte, error) {
	return v.spliced(dst, func(root Value) (edit, error) { return inserting(root, path, at, value) })
}

// Edit is one change that [Value.AppendEdits] makes.
type Edit struct {
	Path   []string
	Value  []byte // one JSON text, which is not checked
	Insert bool   // puts Value before the first element of the array at Path; otherwise it is set as with [SetMember]
}

// AppendEdits appends v to dst with several changes made in one pass, and returns the longer slice. Every other byte stays. Members that
// are added to the same object keep the order of the edits. No path may lead into a value that another edit replaces. The errors are
// those of [SetMember] and [InsertElement]; then dst comes back unchanged.
func (v Value) AppendEdits(dst []byte, edits ...Edit) ([]byte, error) {
	plans := make([]edit, 0, 4)
	size := len(v.raw)
	for i := range edits {
		plan, err := edits[i].plan(v)
		if err != nil {
			return dst, err
		}
		plans = append(plans, plan)
		size += len(plan.value) + 64
	}
	slices.SortStableFunc(plans, func(a, b edit) int { return a.begin - b.begin })
	out := slices.Grow(dst, size)
	done := 0
	for i, e := range plans {
		if e.begin < done {
			return dst, ErrNoPath
		}
		out = append(out, v.raw[done:e.begin]...)
		if i > 0 && len(e.wrap) > 0 && plans[i-1].begin == e.begin {
			e.before = "," // another member was added to the same object
		}
		out = append(out, e.before...)
		out = appendWrapped(out, e.wrap, e.value)
		out = append(out, e.after...)
		done = e.end
	}
	return append(out, v.raw[done:]...), nil
}

func (e *Edit) plan(root Value) (edit, error) {
	if e.Insert {
		return inserting(root, e.Path, 0, Value{raw: e.Value})
	}
	return setting(root, e.Path, Value{raw: e.Value})
}

// edit replaces root[begin:end] by before, then one object per name in wrap around value, then
// after. It refers to bytes and does not hold the result, so that the result is written once.
type edit struct {
	begin, end int
	before     string
	wrap       []string
	value      []byte
	after      string
}

func splice(dst, doc []byte, plan func(Value) (edit, error)) ([]byte, error) {
	root, err := ParseValue(doc, Limits{})
	if err != nil {
		return dst, fmt.Errorf("reading the document: %w", err)
	}
	lead := (&scanner{data: doc}).space(0)
	out, err := root.spliced(append(dst, doc[:lead]...), plan)
	if err != nil {
		return dst, err
	}
	return append(out, doc[lead+len(root.raw):]...), nil
}

func (v Value) spliced(dst []byte, plan func(Value) (edit, error)) ([]byte, error) {
	e, err := plan(v)
	if err != nil {
		return dst, err
	}
	out := slices.Grow(dst, len(v.raw)+len(e.value)+64)
	out = append(out, v.raw[:e.begin]...)
	out = append(out, e.before...)
	out = appendWrapped(out, e.wrap, e.value)
	out = append(out, e.after...)
	return append(out, v.raw[e.end:]...), nil
}

// appendWrapped appends "a":{"b":value} for the names a, b. With no names it is the value alone.
func appendWrapped(dst []byte, names []string, value []byte) []byte {
	for i, name := range names {
		if i > 0 {
			dst = append(dst, '{')
		}
		dst = append(AppendString(dst, name), ':')
	}
	dst = append(dst, value...)
	for range len(names) - 1 {
		dst = append(dst, '}')
	}
	return dst
}

// setting plans to replace the value at path, or to add the part of the path that is missing.
func setting(root Value, path []string, value Value) (edit, error) {
	if !value.Present() || !root.Present() || !validNames(path) {
		return edit{}, ErrNoPath
	}
	at, known, err := follow(root.raw, path)
	if err != nil {
		return edit{}, err
	}
	if known == len(path) {
		return edit{begin: int(at.begin), end: int(at.end), value: value.raw}, nil
	}
	object := Value{at.in(root.raw)}
	if object.Type() != TypeObject {
		return edit{}, ErrNoPath
	}
	last, some := lastMember(object.raw)
	place := int(at.begin) + last
	e := edit{begin: place, end: place, wrap: path[known:], value: value.raw}
	if some {
		e.before = ","
	}
	return e, nil
}

func validNames(path []string) bool {
	for _, name := range path {
		if !utf8.ValidString(name) {
			return false
		}
	}
	return true
}

// removing plans to cut a member together with the comma before it, or behind it if it is the
// first.
func removing(root Value, path []string) (edit, error) {
	if len(path) == 0 || !root.Present() {
		return edit{}, ErrNoPath
	}
	at, known, err := follow(root.raw, path[:len(path)-1])
	if err != nil || known < len(path)-1 {
		return edit{}, err
	}
	object := Value{at.in(root.raw)}
	if object.Type() != TypeObject {
		return edit{}, ErrNoPath
	}
	cut, err := cutOf(object.raw, path[len(path)-1])
	base := int(at.begin)
	return edit{begin: base + int(cut.begin), end: base + int(cut.end)}, err
}

// cutOf returns what to take out of an object to remove a member; nothing if it has none such.
func cutOf(object []byte, name string) (span, error) {
	m, before, err := findMember(object, name)
	if err != nil || m.name.empty() {
		return span{}, err
	}
	if before > 1 {
		return spanOf(before, int(m.value.end)), nil
	}
	if next, end := memberAt(object, int(m.value.end)); end != stop {
		return span{m.name.begin, next.name.begin}, nil
	}
	return span{m.name.begin, m.value.end}, nil
}

// inserting plans to put an element before the one at position at.
func inserting(root Value, path []string, at int, value Value) (edit, error) {
	if !value.Present() || !root.Present() {
		return edit{}, ErrNoPath
	}
	place, known, err := follow(root.raw, path)
	if err != nil {
		return edit{}, err
	}
	array := Value{place.in(root.raw)}
	if known < len(path) || array.Type() != TypeArray {
		return edit{}, ErrNoPath
	}
	e, ok := insertion(array, at)
	e.begin += int(place.begin)
	e.end, e.value = e.begin, value.raw
	if !ok {
		return edit{}, ErrNoPath
	}
	return e, nil
}

// insertion finds the place inside an array. ok is false if there is no such position.
func insertion(array Value, at int) (e edit, ok bool) {
	end := 1
	for n := 0; ; n++ {
		element, next := elementAt(array.raw, end)
		if next == stop {
			e = edit{begin: end}
			if n > 0 {
				e.before = ","
			}
			return e, at == n || at == -1
		}
		if n == at {
			return edit{begin: int(element.begin), after: ","}, true
		}
		end = next
	}
}
