package candor

import (
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
)

// From converts any Go error. nil gives nil, and nothing else does; an *Error anywhere in the chain is returned unchanged,
// without the options; an error that carries a registered code of its own, by symbol or by number, keeps it; known errors of the standard
// library get the code that fits. Everything else is INTERNAL_ERROR with a fixed sentence: the text of an unknown
// error is for the operator, so it goes to the cause and never to the message.
func From(err error, options ...Option) *Error {
	if err == nil {
		return nil
	}
	if e := ours(err); e != nil {
		return e
	}
	code, message := codeOf(err)
	return fallback(code, message, WithCause(err), options)
}

// KnownCode returns the code that [From] finds for an error, or the zero Code if From would fall back to INTERNAL_ERROR.
func KnownCode(err error) Code {
	if err == nil {
		return Code{}
	}
	if e := ours(err); e != nil {
		return e.Code()
	}
	code, _ := codeOf(err)
	return code
}

// FromUnknown converts whatever was thrown: an error, a text, or any value a panic carried. nil gives nil.
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

// CodeOf returns the code of the first *Error in the chain, or the zero Code.
func CodeOf(err error) Code { return ours(err).Code() }

// fallback builds the converted error, of INTERNAL_ERROR if no code was found.
func fallback(code Code, message string, cause Option, options []Option) *Error {
	if !code.Valid() {
		code = CodeInternalError
	}
	return New(code, message, append([]Option{WithOrigin(PartyServer, false), cause}, options...)...)
}

// codeOf applies the specific rules: what was said comes before what can be inferred. The message is "" where
// the public sentence says it best.
func codeOf(err error) (Code, string) {
	if isPlain(err) {
		return codeOfPlain(err)
	}
	inText, message := codeInTexts(err)
	for _, e := range chain(err) {
		if c, ok := carriedBy(e); ok {
			return c, message
		}
	}
	if inText.Valid() || !sound(err) {
		return inText, message
	}
	for _, rule := range conversions {
		fits := false
		if guard(func() { fits = rule.matches(err) }) && fits { // an Is may panic for one target alone
			return rule.code, ""
		}
	}
	return Code{}, ""
}

// isPlain reports an error made by errors.New: it wraps nothing, carries nothing, and has no method of its own that could
// fail. Most errors are, and need none of the care that foreign ones do.
func isPlain(err error) bool { return reflect.TypeOf(err) == plainType }

var plainType = reflect.TypeOf(errors.New(""))

func codeOfPlain(err error) (Code, string) {
	if code, message := codeInText(err.Error()); code.Valid() {
		return code, message
	}
	return plainCodes[err], "" // it may be one of the library's own
}

// plainCodes are the conversions of what is plain itself. Nothing else matches a plain error, which is equal to itself alone.
var plainCodes = func() map[error]Code {
	codes := make(map[error]Code)
	for _, rule := range slices.Backward(conversions) { // the first of several stays
		if rule.target != nil && isPlain(rule.target) {
			codes[rule.target] = rule.code
		}
	}
	return codes
}()

// codeInTexts applies codeInText to the chain. The innermost code wins, and of several at one depth the first.
func codeInTexts(err error) (Code, string) {
	var found Code
	message, deepest := "", -1
	for depth, e := range chain(err) {
		if depth > deepest {
			if c, text := codeInText(textOf(e)); c.Valid() {
				found, message, deepest = c, text, depth
			}
		}
	}
	return found, message
}

// codeInText reads the forms older servers throw: "[FILE_NOT_FOUND] File not found: a.txt" and KAIZA's raw one,
// "SESSION_LOCKED: …", which counts for its own domain alone: "TIMEOUT: …" may be anybody's words. Where prefixes are nested the
// innermost registered code wins: the outer ones were added by whoever passed it on.
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

// conversions are the rules for errors of the standard library, most specific first: a dial that timed out is also a
// net.Error, and one to a socket that is not there is also a missing file.
var conversions = []conversion{
	{code: CodeCancelled, target: context.Canceled},
	{code: CodeTimeout, target: context.DeadlineExceeded},
	{code: CodeTimeout, fits: isFileTimeout},
	{code: CodeUpstreamTimeout, fits: isNetTimeout},
	{code: CodeUpstreamUnreachable, fits: as[*net.DNSError]},
	{code: CodeUpstreamUnreachable, fits: as[*net.OpError]},
	{code: CodeUpstreamUnreachable, target: net.ErrClosed},
	{code: CodeUpstreamUnreachable, target: syscall.ECONNREFUSED},
	{code: CodeUpstreamUnreachable, target: syscall.EHOSTUNREACH},
	{code: CodeUpstreamUnreachable, target: syscall.ENETUNREACH},
	{code: CodeUpstreamUnreachable, target: syscall.ECONNRESET},
	{code: CodeUpstreamUnreachable, target: syscall.EPIPE},
	{code: codeFileNotFound, target: fs.ErrNotExist},
	{code: codeFileAlreadyExists, target: fs.ErrExist},
	{code: codeInsufficientPermissions, target: fs.ErrPermission},
	{code: CodeDiskFull, target: syscall.ENOSPC},
	{code: codeInvalidInputType, fits: as[*json.UnmarshalTypeError]},
	{code: codeInvalidInputFormat, fits: as[*json.SyntaxError]},
	{code: CodeResultNotEncodable, fits: as[*json.UnsupportedValueError]},
	{code: CodeResultNotEncodable, fits: as[*json.UnsupportedTypeError]},
}

// conversion is one rule: the errors that are target, or those that fit.
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

// isFileTimeout tells the deadline of a file or pipe from that of a connection.
func isFileTimeout(err error) bool {
	return errors.Is(err, os.ErrDeadlineExceeded) && !as[*net.OpError](err)
}

func isNetTimeout(err error) bool {
	n, ok := errors.AsType[net.Error](err)
	return ok && !isNilPointer(n) && n.Timeout()
}
