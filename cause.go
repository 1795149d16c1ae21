package candor

import (
	"errors"
	"fmt"
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
	return Cause{Message: publicText(message, MaxCause), Code: label(code), Name: label(name)}
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
		return NewCause(textOf(v), codeTextOf(v), nameOf(v))
	case string:
		return NewCause(v, "", "")
	default:
		return causeOfValue(v)
	}
}

func causeOfValue(v any) Cause {
	d := DetailsOf(v)
	var known struct {
		Message string `json:"message"`
		Code    any    `json:"code"`
		Name    string `json:"name"`
	}
	if d.Decode(&known) == nil && known.Message != "" {
		code := ""
		if known.Code != nil {
			code = fmt.Sprint(known.Code)
		}
		return NewCause(known.Message, code, known.Name)
	}
	return NewCause(d.String(), "", kindName(reflect.TypeOf(v)))
}

// textOf is err.Error() that survives a nil receiver and a panicking method, because fmt does.
func textOf(err error) string { return fmt.Sprint(err) }

// nameOf names the outermost type in the chain that says something; wrappers made by fmt and errors do not.
func nameOf(err error) string {
	for e := err; e != nil; e = errors.Unwrap(e) {
		switch name := kindName(reflect.TypeOf(e)); name {
		case "errorString", "wrapError", "wrapErrors", "joinError":
		default:
			return name
		}
	}
	return "Error"
}

func kindName(t reflect.Type) string {
	if t == nil {
		return ""
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Name() == "" {
		return t.Kind().String()
	}
	return t.Name()
}

// coded is met by error types of other systems that carry a code.
type coded interface{ ErrorCode() string }

// codedToo is the other common spelling.
type codedToo interface{ Code() string }

func codeTextOf(err error) string {
	var a coded
	if errors.As(err, &a) && !isNil(a) {
		return a.ErrorCode()
	}
	var b codedToo
	if errors.As(err, &b) && !isNil(b) {
		return b.Code()
	}
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errnoName(errno)
	}
	return ""
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
	return strings.ToUpper(strings.ReplaceAll(e.Error(), " ", "_"))
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
	{syscall.ENAMETOOLONG, "ENAMETOOLONG"}, {syscall.EINVAL, "EINVAL"},
}
