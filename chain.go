package candor

import (
	"errors"
	"iter"
	"reflect"
)

// maxChain bounds how many errors of one chain are looked at: an error may unwrap to itself.
const maxChain = 256

// walker goes through an error and all it wraps, each before what it wraps. Unlike errors.Is and errors.As it survives
// nil pointers, which it passes over, and chains without an end.
type walker struct {
	left  int
	sound bool // errors.Is and errors.As can go the same way
}

// chain yields err and all it wraps with the depth at which they stand.
func chain(err error) iter.Seq2[int, error] {
	return func(yield func(int, error) bool) {
		w := walker{left: maxChain}
		w.visit(0, err, yield)
	}
}

// sound reports whether errors.Is and errors.As can walk through err.
func sound(err error) bool {
	w := walker{left: maxChain, sound: true}
	w.visit(0, err, func(_ int, e error) bool {
		w.sound = w.sound && asked(e)
		return w.sound
	})
	return w.sound
}

func (w *walker) visit(depth int, err error, yield func(int, error) bool) bool {
	if err == nil {
		return true
	}
	if isNilPointer(err) {
		w.sound = w.sound && !walkable(err)
		return true
	}
	if w.left == 0 {
		w.sound = false
		return false
	}
	w.left--
	if !yield(depth, err) {
		return false
	}
	switch v := any(err).(type) {
	case interface{ Unwrap() error }:
		var inner error
		if !guard(func() { inner = v.Unwrap() }) {
			w.sound = false
		}
		return w.visit(depth+1, inner, yield)
	case interface{ Unwrap() []error }:
		var list []error
		if !guard(func() { list = v.Unwrap() }) {
			w.sound = false
		}
		for _, inner := range list {
			if !w.visit(depth+1, inner, yield) {
				return false
			}
		}
	}
	return true
}

// asked reports whether the Is and As of one error return at all. They are asked for something that no error is.
func asked(err error) bool {
	ok := true
	if v, has := any(err).(interface{ Is(error) bool }); has {
		ok = guard(func() { v.Is(nobody{}) })
	}
	if v, has := any(err).(interface{ As(any) bool }); has {
		var none nobody
		ok = guard(func() { v.As(&none) }) && ok
	}
	return ok
}

// nobody is an error that nothing wraps.
type nobody struct{}

func (nobody) Error() string { return "nobody" }

// walkable reports whether errors.Is or errors.As would call a method of err.
func walkable(err error) bool {
	switch any(err).(type) {
	case interface{ Unwrap() error }, interface{ Unwrap() []error }, interface{ Is(error) bool }, interface{ As(any) bool }:
		return true
	default:
		return false
	}
}

func isNilPointer(v any) bool {
	r := reflect.ValueOf(v)
	return r.Kind() == reflect.Pointer && r.IsNil()
}

// ours returns the first *Error in the chain, or nil.
func ours(err error) *Error {
	if found, ok := err.(*Error); ok { //nolint:errorlint // the quick way; the chain is walked below
		return found
	}
	if isPlain(err) {
		return nil
	}
	for _, e := range chain(err) {
		if found, ok := any(e).(*Error); ok {
			return found
		}
	}
	// An error of another kind may still say that it is one of ours.
	var found *Error
	if !sound(err) || !guard(func() { _ = errors.As(err, &found) }) {
		return nil
	}
	return found
}
