package candor

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net"
	"os"
	"strings"
	"syscall"
)

// From converts any Go error. nil gives nil; an *Error anywhere in the chain is returned unchanged, options
// and all; known errors of the standard library get the code that fits; an error that carries a registered code of
// its own keeps it. Everything else is INTERNAL_ERROR with a fixed sentence: the text of an unknown error
// is for the operator, so it goes to the cause and never to the message.
func From(err error, options ...Option) *Error {
	if err == nil {
		return nil
	}
	var ours *Error
	if errors.As(err, &ours) && ours != nil {
		return ours
	}
	code, message := codeOf(err)
	set := []Option{WithOrigin(PartyServer, false), WithCause(err)}
	if !code.Valid() {
		code = CodeInternalError
	}
	return New(code, message, append(set, options...)...)
}

// FromUnknown converts whatever was thrown: an error, a text, or any value a panic carried. nil gives nil.
func FromUnknown(thrown any, options ...Option) *Error {
	switch v := thrown.(type) {
	case nil:
		return nil
	case error:
		return From(v, options...)
	case string:
		return fromText(v, options)
	default:
		return fromValue(v, options)
	}
}

// CodeOf returns the code of the first *Error in the chain, or the zero Code.
func CodeOf(err error) Code {
	var ours *Error
	if errors.As(err, &ours) && ours != nil {
		return ours.code
	}
	return Code{}
}

func fromText(text string, options []Option) *Error {
	code, message := codeInText(text)
	if !code.Valid() {
		code = CodeInternalError
	}
	set := []Option{WithOrigin(PartyServer, false), WithCauseText(Cause{Message: text})}
	return New(code, message, append(set, options...)...)
}

func fromValue(v any, options []Option) *Error {
	d := DetailsOf(v)
	var legacy struct {
		ErrorCode    string `json:"error_code"`
		Code         string `json:"code"`
		HumanMessage string `json:"human_message"`
		Message      string `json:"message"`
	}
	code := CodeInternalError
	message := ""
	// A value of another shape simply has none of these members; that is the last resort, not a failure.
	if d.Decode(&legacy) == nil {
		for _, symbol := range []string{legacy.ErrorCode, legacy.Code} {
			if c, ok := LookupSymbol(symbol); ok {
				code, message = c, firstText(legacy.HumanMessage, legacy.Message)
				break
			}
		}
	}
	set := []Option{WithOrigin(PartyServer, false), WithCauseText(causeOf(v))}
	return New(code, message, append(set, options...)...)
}

func firstText(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

// codeOf applies the specific rules, most specific first. The message is "" where the public sentence says it best.
func codeOf(err error) (Code, string) {
	if c, ok := LookupSymbol(codeTextOf(err)); ok {
		_, message := codeInText(textOf(err))
		return c, message
	}
	for _, rule := range conversions {
		if rule.matches(err) {
			return rule.code, ""
		}
	}
	return codeInText(textOf(err))
}

// codeInText reads the bracketed form older servers throw: "[FILE_NOT_FOUND] File not found: a.txt". Where
// prefixes are nested the innermost registered code wins: the outer ones were added by whoever passed it on.
func codeInText(text string) (Code, string) {
	var found Code
	message := ""
	for rest := strings.TrimSpace(text); strings.HasPrefix(rest, "["); {
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
	return found, message
}

// conversions are the rules for errors of the standard library. The order matters: a dial that
// timed out is also a net.Error, a missing file is also a PathError.
var conversions = []struct {
	code    Code
	matches func(error) bool
}{
	{CodeCancelled, is(context.Canceled)},
	{CodeTimeout, is(context.DeadlineExceeded)},
	{CodeKaizaFileNotFound, is(fs.ErrNotExist)},
	{CodeKaizaFileAlreadyExists, is(fs.ErrExist)},
	{CodeKaizaInsufficientPermissions, is(fs.ErrPermission)},
	{CodeDiskFull, is(syscall.ENOSPC)},
	{CodeKaizaInvalidInputType, as[*json.UnmarshalTypeError]},
	{CodeKaizaInvalidInputFormat, as[*json.SyntaxError]},
	{CodeResultNotEncodable, as[*json.UnsupportedValueError]},
	{CodeResultNotEncodable, as[*json.UnsupportedTypeError]},
	{CodeUpstreamTimeout, isNetTimeout},
	{CodeTimeout, is(os.ErrDeadlineExceeded)},
	{CodeUpstreamUnreachable, as[*net.DNSError]},
	{CodeUpstreamUnreachable, is(syscall.ECONNREFUSED)},
	{CodeUpstreamUnreachable, is(syscall.EHOSTUNREACH)},
	{CodeUpstreamUnreachable, is(syscall.ENETUNREACH)},
	{CodeUpstreamUnreachable, is(syscall.ECONNRESET)},
	{CodeUpstreamUnreachable, is(syscall.EPIPE)},
	{CodeUpstreamUnreachable, as[*net.OpError]},
	{CodeUpstreamUnreachable, is(net.ErrClosed)},
}

func is(target error) func(error) bool {
	return func(err error) bool { return errors.Is(err, target) }
}

func as[T error](err error) bool {
	var target T
	return errors.As(err, &target)
}

func isNetTimeout(err error) bool {
	var n net.Error
	return errors.As(err, &n) && n.Timeout()
}
