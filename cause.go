package candor

import (
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"strings"
	"syscall"
)

// Cause is what lay behind a failure, made safe: three short strings, redacted and bounded.
// A cause that was only a text has no Name and no Code.
type Cause struct {
	Message string
	Code    string // an errno name or a code of another system
	Name    string // the kind of the original, such as PathError
}

// IsZero reports whether there is no cause.
func (c Cause) IsZero() bool { return c == Cause{} }

// NewCause builds a cause from its parts, redacting and bounding each.
func NewCause(message, code, name string) Cause {
	return Cause{Message: publicText(message, MaxCause), Code: publicText(code, MaxCallInfo), Name: publicText(name, MaxCallInfo)}
}

// wrap keeps err as the cause, if errors.Is can walk through it, and its redacted copy.
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

// publicCause redacts the text of a cause, unless it is the message word for word: that has passed the door, and passing it again
// changes nothing. Most errors that say nothing but a text come with it as their message.
func (e *Error) publicCause(text string) string {
	if text == e.message && len(text) <= MaxCause {
		return text
	}
	return publicText(text, MaxCause)
}

// causeOf normalises whatever was thrown. Errors give message, code and name; texts give a message;
// anything else is written as bounded JSON, which also takes care of cycles and channels.
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

// textOf is err.Error() that survives a nil receiver and a panicking method, because fmt does; and a panic whose value
// panics when it is printed, which fmt passes on.
func textOf(err error) (text string) {
	if !guard(func() { text = fmt.Sprint(err) }) {
		return unencodable
	}
	return text
}

// withoutFolders shortens the absolute paths that errors of the file system name in a text of theirs. Their fields say exactly
// where a path ends; [redact.Text], which only sees the text, stops at a blank or a bracket.
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

// withoutFolder shortens one path, of this system or of Windows.
func withoutFolder(text, name string) string {
	name = strings.TrimRight(name, `/\`)
	last := strings.LastIndexAny(name, `/\`)
	if last <= 0 || name[0] != '/' && name[0] != '\\' && name[1] != ':' {
		return text
	}
	return strings.ReplaceAll(text, name, "…/"+name[last+1:])
}

// codeTextOf returns the first code that anything in the chain carries, or "".
func codeTextOf(err error) string {
	for _, e := range chain(err) {
		if code := ownCodeText(e); code != "" {
			return code
		}
	}
	return ""
}

// nameOf names the outermost type in the chain that says something; wrappers made by fmt and errors do not.
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

// plainName is the name of an error whose type says nothing.
const plainName = "Error"

// kindName is the name of a type, without its package and the pointers around it.
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

// errnoName spells the errors people search for; the rest keep their text only.
func errnoName(e syscall.Errno) string {
	for _, known := range errnos {
		if known.errno == e {
			return known.name
		}
	}
	return ""
}

var errnos = []struct {
	errno syscall.Errno
	name  string
}{
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
