package candor

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"reflect"
	"strings"
	"syscall"
)

// Cause is the redacted and bounded copy of the error behind a failure. A cause that was only a text has no Name and no Code.
type Cause struct {
	Message string
	Code    string // an errno name or a code of another system
	Name    string // the kind of the original, such as PathError
}

// IsZero reports whether c is empty.
func (c Cause) IsZero() bool { return c == Cause{} }

// NewCause builds a cause from its parts, redacting and bounding each.
func NewCause(message, code, name string) Cause {
	return Cause{Message: publicText(message, MaxCause), Code: publicText(code, MaxCallInfo), Name: publicText(name, MaxCallInfo)}
}

// wrap keeps the redacted copy of err, and err itself if errors.Is is safe on it.
func (e *Error) wrap(err error) {
	if isPlain(err) {
		e.err, e.cause = err, Cause{Message: e.publicCause(err.Error()), Name: plainName}
		return
	}
	e.err, e.cause = nil, causeOf(err)
	if sound(err) {
		e.err = err
	}
}

// publicCause redacts the text of a cause, unless it equals the message, which is redacted already. Most plain errors have their
// text as the message.
func (e *Error) publicCause(text string) string {
	if text == e.message && len(text) <= MaxCause {
		return text
	}
	return publicText(text, MaxCause)
}

// causeOf makes a cause of any value. Errors give message, code and name; texts give a message; anything else is written as
// bounded JSON.
func causeOf(v any) Cause {
	switch v := v.(type) {
	case nil:
		return Cause{}
	case Cause:
		return NewCause(v.Message, v.Code, v.Name)
	case error:
		if isPlain(v) {
			return Cause{Message: publicText(v.Error(), MaxCause), Name: plainName}
		}
		return NewCause(withoutFolders(v, textOf(v)), codeTextOf(v), nameOf(v))
	case string:
		return NewCause(v, "", "")
	default:
		return causeOfValue(v, thrownBy(v))
	}
}

func causeOfValue(v any, t thrown) Cause {
	if t.message != "" {
		return NewCause(t.message, t.code, t.name)
	}
	return NewCause(firstText(DetailsOf(v).String(), "null"), "", kindName(reflect.TypeOf(v)))
}

// textOf returns err.Error(). Like fmt, it survives a nil receiver and a panicking method; unlike fmt, it also survives a panic
// value that panics when printed.
func textOf(err error) (text string) {
	if !guard(func() { text = fmt.Sprint(err) }) {
		return unencodable
	}
	return text
}

// withoutFolders shortens the absolute paths in the text of file system errors. Their fields show where a path ends; [redact.Text]
// sees only the text and stops at a space or a bracket.
func withoutFolders(err error, text string) string {
	for _, e := range chain(err) {
		switch e := any(e).(type) {
		case *fs.PathError:
			text = withoutFolder(text, e.Path)
		case *os.LinkError:
			text = withoutFolder(withoutFolder(text, e.Old), e.New) //nolint:forbidigo // fields of an error value
		}
	}
	return text
}

// withoutFolder shortens one Unix or Windows path.
func withoutFolder(text, name string) string {
	name = strings.TrimRight(name, `/\`)
	last := strings.LastIndexAny(name, `/\`)
	if last <= 0 || name[0] != '/' && name[0] != '\\' && name[1] != ':' {
		return text
	}
	return strings.ReplaceAll(text, name, "…/"+name[last+1:])
}

// codeTextOf returns the first code that an error in the chain carries, or "".
func codeTextOf(err error) string {
	for _, e := range chain(err) {
		if code := ownCodeText(e); code != "" {
			return code
		}
	}
	return ""
}

// nameOf returns the type name of the outermost error in the chain that is not a wrapper of fmt or errors.
func nameOf(err error) string {
	if isNilPointer(err) {
		return kindName(reflect.TypeOf(err))
	}
	for _, e := range chain(err) {
		switch t := reflect.TypeOf(e); t.String() {
		case "*errors.errorString", "*fmt.wrapError", "*fmt.wrapErrors", "*errors.joinError":
		default:
			return kindName(t)
		}
	}
	return plainName
}

// plainName is the name of an error made by errors.New or fmt.Errorf.
const plainName = "Error"

// kindName returns the name of a type, without its package and pointers.
func kindName(t reflect.Type) string {
	if t == nil {
		return ""
	}
	for t.Kind() == reflect.Pointer && t.Name() == "" { // a named pointer may point to itself
		t = t.Elem()
	}
	if t.Name() == "" {
		return t.Kind().String()
	}
	return t.Name()
}

func isNil(v any) bool {
	r := reflect.ValueOf(v)
	switch r.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Func, reflect.Chan, reflect.Interface:
		return r.IsNil()
	default:
		return false
	}
}

// errnoName returns the name of a common errno, such as ENOENT, or "".
func errnoName(e syscall.Errno) string {
	for _, list := range [][]namedErrno{errnos, systemErrnos} {
		for _, known := range list {
			if known.errno == e {
				return known.name
			}
		}
	}
	return ""
}

type namedErrno struct {
	errno syscall.Errno
	name  string
}

var errnos = []namedErrno{
	{syscall.ENOENT, "ENOENT"}, {syscall.EEXIST, "EEXIST"}, {syscall.EACCES, "EACCES"},
	{syscall.EPERM, "EPERM"}, {syscall.ENOSPC, "ENOSPC"}, {syscall.EISDIR, "EISDIR"},
	{syscall.ENOTDIR, "ENOTDIR"}, {syscall.ENOTEMPTY, "ENOTEMPTY"}, {syscall.EROFS, "EROFS"},
	{syscall.EMFILE, "EMFILE"}, {syscall.EIO, "EIO"}, {syscall.EBUSY, "EBUSY"}, {syscall.EPIPE, "EPIPE"},
	{syscall.ECONNREFUSED, "ECONNREFUSED"}, {syscall.ECONNRESET, "ECONNRESET"},
	{syscall.ECONNABORTED, "ECONNABORTED"}, {syscall.ETIMEDOUT, "ETIMEDOUT"},
	{syscall.EHOSTUNREACH, "EHOSTUNREACH"}, {syscall.ENETUNREACH, "ENETUNREACH"},
	{syscall.ENAMETOOLONG, "ENAMETOOLONG"}, {syscall.EINVAL, "EINVAL"}, {syscall.EINTR, "EINTR"},
	{syscall.EAGAIN, "EAGAIN"}, {syscall.EXDEV, "EXDEV"}, {syscall.ELOOP, "ELOOP"}, {syscall.EADDRINUSE, "EADDRINUSE"},
	{syscall.ENOTCONN, "ENOTCONN"}, {syscall.ENOMEM, "ENOMEM"},
}

// maxChain is the maximum number of errors of one chain that are visited, because an error may unwrap to itself.
const maxChain = 256

// walker visits an error and all errors that it wraps. Unlike errors.Is and errors.As it skips nil pointers and stops on endless
// chains.
type walker struct {
	left  int
	sound bool // errors.Is and errors.As are safe on this chain
}

// chain yields err and all errors that it wraps, with their depth.
func chain(err error) iter.Seq2[int, error] {
	return func(yield func(int, error) bool) {
		w := walker{left: maxChain}
		w.visit(0, err, yield)
	}
}

// sound reports whether errors.Is and errors.As are safe on err.
func sound(err error) bool {
	w := walker{left: maxChain, sound: true}
	w.visit(0, err, func(_ int, e error) bool {
		w.sound = w.sound && matchReturns(e)
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

// matchReturns reports whether the Is and As methods of one error return without a panic. It calls them with a target that nothing
// matches.
func matchReturns(err error) bool {
	ok := true
	if v, has := any(err).(interface{ Is(error) bool }); has {
		ok = guard(func() { v.Is(unmatched{}) })
	}
	if v, has := any(err).(interface{ As(any) bool }); has {
		var none unmatched
		ok = guard(func() { v.As(&none) }) && ok
	}
	return ok
}

// unmatched is an error that nothing wraps.
type unmatched struct{}

func (unmatched) Error() string { return "" }

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
	// Another type may have an As method that returns an *Error.
	var found *Error
	if !sound(err) || !guard(func() { _ = errors.As(err, &found) }) {
		return nil
	}
	return found
}
