package candor

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net"
	"os"
	"reflect"
	"slices"
	"strings"
	"syscall"

	"github.com/candor-mcp/candor/internal/oserror"
)

// From converts any Go error. It returns nil only for nil. An *[Error] anywhere in the chain is returned, with the options applied to a
// copy. An error that carries a registered code, by symbol or by number, keeps it. Known errors of the standard library get a matching
// code. Every other error becomes INTERNAL_ERROR with a fixed sentence: the text of an unknown error is for the operator, so it goes to
// the cause and never to the message.
//
// Do not assign the result to an error variable without a check, because a nil *Error is not a nil error.
func From(err error, options ...Option) *Error {
	if err == nil {
		return nil
	}
	if e := ours(err); e != nil {
		return e.with(options)
	}
	code, message := codeOf(err)
	return fallback(code, message, WithCause(err), options)
}

// AsError returns the first *[Error] in the chain of err, and whether there is one. Unlike [From] it converts nothing.
func AsError(err error) (*Error, bool) {
	e := ours(err)
	return e, e != nil
}

// with applies options to a copy of e, except [Otherwise], which is for errors without a code.
func (e *Error) with(options []Option) *Error {
	options = slices.DeleteFunc(slices.Clone(options), func(o Option) bool { return o.kind == optionOtherwise || o.kind == optionNone })
	if len(options) == 0 {
		return e
	}
	return e.With(options...)
}

// KnownCode returns the code that [From] finds for an error, or the zero [Code] if From would fall back to INTERNAL_ERROR.
func KnownCode(err error) Code {
	if err == nil {
		return 0
	}
	if e := ours(err); e != nil {
		return e.Code()
	}
	code, _ := codeOf(err)
	return code
}

// FromUnknown converts an error, a string, or any panic value. It returns nil for nil.
func FromUnknown(v any, options ...Option) *Error {
	switch v := v.(type) {
	case nil:
		return nil
	case error:
		return From(v, options...)
	case string:
		code, message := codeInText(v)
		return fallback(code, message, WithCauseText(Cause{Message: v}), options)
	default:
		t := thrownBy(v)
		code, message := t.carried()
		return fallback(code, message, WithCauseText(causeOfValue(v, t)), options)
	}
}

// CodeOf returns the code of the first *[Error] in the chain, or the zero [Code].
func CodeOf(err error) Code { return ours(err).Code() }

// fallback builds the converted error. Without a valid code it uses INTERNAL_ERROR.
func fallback(code Code, message string, cause Option, options []Option) *Error {
	if !code.Valid() {
		code = CodeInternalError
	}
	return New(code, message, append([]Option{WithOrigin(PartyServer, false), cause}, options...)...)
}

// codeOf applies the rules in order: a code that the error carries takes precedence over one that is inferred. If the returned
// message is "", the public sentence is used.
func codeOf(err error) (code Code, message string) {
	if isPlain(err) {
		return codeOfPlain(err)
	}
	chain, sound := chainOf(err)
	inText, message := codeInTexts(chain)
	guard(func() { code = carriedIn(chain) })
	if code.Valid() || inText.Valid() || !sound {
		return cmp.Or(code, inText), message
	}
	guard(func() { code = inferred(err) })
	return code, ""
}

// carriedIn returns the first registered code that an error of the chain carries, or the zero Code.
func carriedIn(chain []link) Code {
	for _, l := range chain {
		if c, ok := carriedBy(l.err); ok {
			return c
		}
	}
	return 0
}

// inferred returns the code of the first conversion that fits, or the zero Code.
func inferred(err error) Code {
	for _, rule := range conversions {
		if rule.matches(err) {
			return rule.code
		}
	}
	return 0
}

// isPlain reports whether err was made by errors.New: it wraps nothing, carries no code, and its methods cannot panic. Most errors
// are plain and take a short path.
func isPlain(err error) bool { return reflect.TypeOf(err) == plainType }

var plainType = reflect.TypeOf(errors.New(""))

func codeOfPlain(err error) (Code, string) {
	if code, message := codeInText(err.Error()); code.Valid() {
		return code, message
	}
	return plainCodes[err], "" // it may be an error of the standard library
}

// plainCodes has the conversions with a plain error as the target. A plain error matches no other conversion.
var plainCodes = func() map[error]Code {
	codes := make(map[error]Code)
	for _, rule := range slices.Backward(conversions) { // so that the first of several wins
		if rule.target != nil && isPlain(rule.target) {
			codes[rule.target] = rule.code
		}
	}
	return codes
}()

// codeInTexts applies codeInText to the chain. The innermost code wins; at the same depth, the first one does.
func codeInTexts(chain []link) (found Code, message string) {
	deepest := -1
	for _, l := range chain {
		if l.depth > deepest {
			if c, text := codeInText(textOf(l.err)); c.Valid() {
				found, message, deepest = c, text, l.depth
			}
		}
	}
	return found, message
}

// codeInText reads the forms that older servers throw: "[FILE_NOT_FOUND] File not found: a.txt", and "SESSION_LOCKED: …" for KAIZA
// codes only, because "TIMEOUT: …" is common in prose. With nested prefixes the innermost registered code wins, because callers
// add the outer ones.
func codeInText(text string) (Code, string) {
	var found Code
	message := ""
	rest := strings.TrimSpace(text)
	for strings.HasPrefix(rest, "[") {
		symbol, after, ok := strings.Cut(rest[1:], "]")
		if !ok {
			break
		}
		c, ok := LookupSymbol(symbol)
		if !ok {
			break
		}
		rest = strings.TrimSpace(after)
		found, message = c, rest
	}
	for {
		symbol, after, _ := strings.Cut(rest, ":")
		c, ok := LookupCode("kaiza", symbol)
		if !ok || len(symbol) == len(rest) {
			return found, message
		}
		rest = strings.TrimSpace(after)
		found, message = c, rest
	}
}

// conversions are the rules for errors of the standard library, the most specific first: a dial that timed out is also a
// net.Error, and a dial to a socket that does not exist is also a missing file.
var conversions = []conversion{
	{code: CodeCancelled, target: context.Canceled},
	{code: CodeTimeout, target: context.DeadlineExceeded},
	{code: CodeTimeout, fits: isFileTimeout},
	{code: CodeUpstreamTimeout, fits: isNetTimeout},
	{code: CodeUpstreamUnreachable, fits: as[*net.DNSError]},
	{code: CodeUpstreamUnreachable, fits: as[*net.OpError]},
	{code: CodeUpstreamUnreachable, target: net.ErrClosed},
	{code: CodeUpstreamUnreachable, target: syscall.EHOSTUNREACH},
	{code: CodeUpstreamUnreachable, target: syscall.ENETUNREACH},
	{code: CodeUpstreamUnreachable, fits: oserror.IsRefused},
	{code: CodeUpstreamUnreachable, fits: oserror.IsReset},
	{code: CodeUpstreamUnreachable, fits: oserror.IsClosedPipe},
	{code: codeFileNotFound, target: fs.ErrNotExist},
	{code: codeFileAlreadyExists, target: fs.ErrExist},
	{code: codeInsufficientPermissions, target: fs.ErrPermission},
	{code: codeInvalidPath, fits: isInvalidPath},
	{code: CodeDiskFull, fits: oserror.IsFull},
	{code: codeInvalidInputType, fits: as[*json.UnmarshalTypeError]},
	{code: codeInvalidInputFormat, fits: as[*json.SyntaxError]},
	{code: CodeResultNotEncodable, fits: as[*json.UnsupportedValueError]},
	{code: CodeResultNotEncodable, fits: as[*json.UnsupportedTypeError]},
}

// conversion is one rule. It applies to errors that match target, or for which fits returns true.
type conversion struct {
	code   Code
	target error
	fits   func(error) bool
}

func (c *conversion) matches(err error) bool {
	if c.target != nil {
		return errors.Is(err, c.target)
	}
	return c.fits(err)
}

func as[T error](err error) bool {
	_, ok := errors.AsType[T](err)
	return ok
}

// isInvalidPath reports whether a path was refused: it names the wrong kind of file, is too long, or leaves the folder of an [fs.FS] or
// [os.Root].
func isInvalidPath(err error) bool {
	for _, number := range []syscall.Errno{syscall.EISDIR, syscall.ENOTDIR, syscall.ENAMETOOLONG, syscall.ELOOP} {
		if errors.Is(err, number) {
			return true
		}
	}
	file, ok := errors.AsType[*fs.PathError](err)
	return ok && file != nil && file.Err != nil && (file.Err == fs.ErrInvalid || file.Err.Error() == escapesRoot) //nolint:errorlint // EINVAL has other causes
}

// escapesRoot is the text of the error for a path that leaves an [os.Root], which package os does not export.
const escapesRoot = "path escapes from parent"

// isFileTimeout reports whether err is an exceeded deadline of a file or pipe, and not of a connection.
func isFileTimeout(err error) bool {
	return errors.Is(err, os.ErrDeadlineExceeded) && !as[*net.OpError](err)
}

func isNetTimeout(err error) bool {
	n, ok := errors.AsType[net.Error](err)
	return ok && !isNilPointer(n) && n.Timeout()
}

// Methods by which error types of other systems return a code.
type (
	textCoded interface{ ErrorCode() string }
	textCode  interface{ Code() string }
	textApp   interface{ AppCode() string }
	intCoded  interface{ ErrorCode() int }
	intCode   interface{ Code() int }
	intApp    interface{ AppCode() int }
)

// leastNumber is the lowest number that is read as a registered code. Exit codes and HTTP statuses are below it.
const leastNumber = 1000

// carriedBy returns the registered code that one error carries, without its chain, by symbol or by number.
func carriedBy(err error) (Code, bool) {
	symbol, number := ownCode(err)
	if c, ok := LookupSymbol(symbol); ok {
		return c, true
	}
	if number < leastNumber {
		return 0, false
	}
	return Code(number), Code(number).Valid()
}

// ownCode returns the code that one error carries, without its chain, as a symbol or as a number.
func ownCode(err error) (symbol string, number int) {
	switch v := any(err).(type) {
	case *Error:
		return v.code.Symbol(), 0
	case syscall.Errno:
		return oserror.Name(v), 0
	case textCoded:
		return v.ErrorCode(), 0
	case textCode:
		return v.Code(), 0
	case textApp:
		return v.AppCode(), 0
	case intCoded:
		return "", v.ErrorCode()
	case intCode:
		return "", v.Code()
	case intApp:
		return "", v.AppCode()
	default:
		return codeField(reflect.ValueOf(err))
	}
}

// codeFields are the names of struct fields that may hold a code, the most specific first.
var codeFields = [...]string{"ErrorCode", "AppCode", "Code"}

// codeField reads the code from an exported field of the struct itself. It does not search embedded structs.
func codeField(r reflect.Value) (symbol string, number int) {
	if r.Kind() == reflect.Pointer {
		r = r.Elem()
	}
	if r.Kind() != reflect.Struct || r.Type().Name() == "CloseError" { // WebSocket close codes also begin at 1000
		return "", 0
	}
	for _, name := range codeFields {
		f, ok := r.Type().FieldByName(name)
		if !ok || len(f.Index) != 1 || !f.IsExported() {
			continue
		}
		switch v := r.Field(f.Index[0]); {
		case v.Kind() == reflect.String && v.String() != "":
			return v.String(), 0
		case v.CanInt() && v.Int() != 0:
			return "", int(v.Int())
		case v.CanUint() && v.Uint() != 0:
			return "", int(min(v.Uint(), 1<<31-1)) //nolint:gosec // bounded
		}
	}
	return "", 0
}

// thrown holds the members of a value other than an error or a string, by the names that older servers use.
type thrown struct {
	errorCode, code, humanMessage, message, name string
}

func thrownBy(v any) (t thrown) {
	raw, ok := callMarshal(func() ([]byte, error) { return json.Marshal(v) })
	if !ok {
		return t
	}
	known := map[string]*string{
		"error_code": &t.errorCode, "code": &t.code, "human_message": &t.humanMessage, "message": &t.message, "name": &t.name,
	}
	for f := range validJSON(raw).fields() {
		if into := known[f.name]; into != nil {
			*into = f.value.(validJSON).scalar() //nolint:errcheck // every field of a validJSON is one
		}
	}
	return t
}

// carried returns the registered code and its message, or the zero Code.
func (t thrown) carried() (Code, string) {
	for _, symbol := range [...]string{t.errorCode, t.code} {
		if c, ok := LookupSymbol(symbol); ok {
			return c, cmp.Or(t.humanMessage, t.message)
		}
	}
	return 0, ""
}
