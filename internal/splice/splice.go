// Package splice edits JSON text in place: it sets, removes or inserts one value and leaves every other byte as it is.
package splice

import (
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/candor-mcp/candor/internal/jsontext"
	"github.com/candor-mcp/candor/wire"
)

// The errors of an edit besides a [wire.Malformation]. Compare with errors.Is.
var (
	// ErrNoPath means that the path leads through a value that is not an object, or to a position that an array does not have.
	ErrNoPath = errors.New("path not found in the document")
	// ErrAmbiguous means that an object names a step of the path twice.
	ErrAmbiguous = errors.New("duplicate name on the path")
)

// SetMember appends doc to dst with the member at path set to value, and returns the longer slice. Every other byte,
// white space included, is kept.
//
// Names on the path are compared with the unescaped names of the document. The value of an existing member is replaced;
// a missing member is added as the last of its object, and missing objects on the way are created. In an array a step
// is the decimal position of an existing element. An empty path replaces the whole value.
//
// Both doc and value must be one JSON text within the default limits, or the error is a [wire.Malformation]. On any
// error dst is returned unchanged. dst must not share memory with doc or value. SetMember takes linear time.
func SetMember(dst, doc []byte, path []string, value []byte) ([]byte, error) {
	v, err := wire.ParseValue(value, wire.Limits{})
	if err != nil {
		return dst, fmt.Errorf("reading the value to set: %w", err)
	}
	return splice(dst, doc, func(root wire.Value) (edit, error) { return planSet(root, path, v.Raw()) })
}

// RemoveMember appends doc to dst without the member at path and its comma. A missing member is not an error. An empty
// path, or one that ends in an array, is [ErrNoPath]. The rest is as with [SetMember].
func RemoveMember(dst, doc []byte, path []string) ([]byte, error) {
	return splice(dst, doc, func(root wire.Value) (edit, error) { return planRemove(root, path) })
}

// Edit is one change that [Edits] makes.
type Edit struct {
	Path   []string
	Value  []byte // one JSON text, which is not checked
	Insert bool   // put Value before the first element of the array at Path, instead of setting it as [SetMember] does
}

// Edits appends root to dst with several changes made in one pass. Every other byte is kept. Members that are added to
// the same object keep the order of the edits. A path must not lead into a value that another edit replaces. The errors
// are those of [SetMember]; on an error dst is returned unchanged.
func Edits(dst []byte, root wire.Value, edits ...Edit) ([]byte, error) {
	plans := make([]edit, 0, 4)
	raw := root.Raw()
	size := len(raw)
	for i := range edits {
		plan, err := edits[i].plan(root)
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
		out = append(out, raw[done:e.begin]...)
		if i > 0 && len(e.wrap) > 0 && plans[i-1].begin == e.begin {
			e.before = "," // another member was added to the same object
		}
		out = e.appendTo(out)
		done = e.end
	}
	return append(out, raw[done:]...), nil
}

func (e *Edit) plan(root wire.Value) (edit, error) {
	if e.Insert {
		return planInsert(root, e.Path, e.Value)
	}
	return planSet(root, e.Path, e.Value)
}

// edit replaces root[begin:end] by before, then one object per name in wrap around value, then after. It refers to the
// parts of the result, so that the result is written once.
type edit struct {
	begin, end int
	before     string
	wrap       []string
	value      []byte
	after      string
}

func splice(dst, doc []byte, plan func(wire.Value) (edit, error)) ([]byte, error) {
	root, err := wire.ParseValue(doc, wire.Limits{})
	if err != nil {
		return dst, fmt.Errorf("reading the document: %w", err)
	}
	e, err := plan(root)
	if err != nil {
		return dst, err
	}
	begin := skip(doc, 0)
	dst = slices.Grow(dst, len(doc)+len(e.value)+64)
	dst = e.appendTo(append(dst, doc[:begin+e.begin]...))
	return append(dst, doc[begin+e.end:]...), nil
}

// appendTo appends the replacement.
func (e *edit) appendTo(dst []byte) []byte {
	dst = appendWrapped(append(dst, e.before...), e.wrap, e.value)
	return append(dst, e.after...)
}

// appendWrapped appends "a":{"b":value} for the names a, b. Without names it appends the value alone.
func appendWrapped(dst []byte, names []string, value []byte) []byte {
	for i, name := range names {
		if i > 0 {
			dst = append(dst, '{')
		}
		dst = append(jsontext.AppendString(dst, name), ':')
	}
	dst = append(dst, value...)
	for range len(names) - 1 {
		dst = append(dst, '}')
	}
	return dst
}

// planSet replaces the value at path, or adds the missing part of the path.
func planSet(root wire.Value, path []string, value []byte) (edit, error) {
	if len(value) == 0 || !root.Present() || !validNames(path) {
		return edit{}, ErrNoPath
	}
	at, known, err := follow(root, path)
	if err != nil {
		return edit{}, err
	}
	if known == len(path) {
		return edit{begin: at.begin, end: at.begin + len(at.value.Raw()), value: value}, nil
	}
	if at.value.Type() != wire.TypeObject {
		return edit{}, ErrNoPath
	}
	last, some := lastMember(at.value)
	begin := at.begin + last
	e := edit{begin: begin, end: begin, wrap: path[known:], value: value}
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

// planRemove cuts a member with the comma before it, or after it if it is the first.
func planRemove(root wire.Value, path []string) (edit, error) {
	if len(path) == 0 || !root.Present() {
		return edit{}, ErrNoPath
	}
	at, known, err := follow(root, path[:len(path)-1])
	if err != nil || known < len(path)-1 {
		return edit{}, err
	}
	if at.value.Type() != wire.TypeObject {
		return edit{}, ErrNoPath
	}
	m, found, err := findMember(at.value, path[len(path)-1])
	if err != nil || !found {
		return edit{}, err
	}
	switch {
	case m.previousEnd > 1:
		return edit{begin: at.begin + m.previousEnd, end: at.begin + m.end}, nil
	case m.next > 0:
		return edit{begin: at.begin + m.begin, end: at.begin + m.next}, nil
	default:
		return edit{begin: at.begin + m.begin, end: at.begin + m.end}, nil
	}
}

// planInsert puts an element before the first one of an array.
func planInsert(root wire.Value, path []string, value []byte) (edit, error) {
	if len(value) == 0 || !root.Present() {
		return edit{}, ErrNoPath
	}
	array, known, err := follow(root, path)
	if err != nil {
		return edit{}, err
	}
	if known < len(path) || array.value.Type() != wire.TypeArray {
		return edit{}, ErrNoPath
	}
	begin := array.begin + skip(array.value.Raw(), 1)
	e := edit{begin: begin, end: begin, value: value}
	if array.value.Len() > 0 {
		e.after = ","
	}
	return e, nil
}
