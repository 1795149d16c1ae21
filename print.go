package candor

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
)

// Error returns "CODE: message", or what is wrong with an invalid Error.
func (e *Error) Error() string {
	if e == nil {
		return "candor: nil error"
	}
	if err := e.validCode(); err != nil {
		return err.Error()
	}
	return e.code.Symbol() + ": " + e.message
}

// Validate returns nil for a usable error. It explains a missing code, and a suggestion that was refused because it
// contradicted the retry advice.
func (e *Error) Validate() error {
	if err := e.validCode(); err != nil {
		return err
	}
	return CheckSuggestion(e.retry, e.said)
}

var errNoCode = errors.New("candor: invalid error: it has no registered code; build errors with candor.New")

func (e *Error) validCode() error {
	if e == nil || !e.code.Valid() {
		return errNoCode
	}
	return nil
}

// Format writes [Error.Error] for %v and %s, a quoted form for %q, and for %+v a block with everything an operator wants to
// see, one thing a line, the stack last.
func (e *Error) Format(f fmt.State, verb rune) {
	text := e.Error()
	switch {
	case verb == 'v' && f.Flag('+') && e != nil:
		text = e.block()
	case verb == 'q':
		text = fmt.Sprintf("%q", text)
	}
	// A formatter has nowhere to report a failed write; fmt itself ignores it too.
	_, _ = io.WriteString(f, text)
}

func (e *Error) block() string {
	var b strings.Builder
	b.WriteString(e.Error())
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "\n  %-10s %s", name, value)
		}
	}
	line("code", fmt.Sprintf("%s %d", e.code, e.code.Number()))
	line("class", string(e.Class()))
	line("retry", e.retry.String())
	line("do", e.suggestion)
	line("details", e.details.String())
	line("tool", e.callInfo.Tool)
	line("session", e.callInfo.SessionID)
	line("ref", e.ref)
	if !e.at.IsZero() {
		line("time", e.at.Format(TimeLayout))
	}
	line("cause", e.cause.Message)
	if e.stack != "" {
		b.WriteString("\n" + e.stack)
	}
	return b.String()
}

// LogValue makes the error a group of attributes in log/slog: code, class, message, retry and what else is known.
func (e *Error) LogValue() slog.Value {
	if err := e.validCode(); err != nil {
		return slog.StringValue(err.Error())
	}
	attrs := []slog.Attr{
		slog.String("code", e.code.Symbol()),
		slog.String("class", string(e.Class())),
		slog.String("message", e.message),
		slog.String("retry", e.retry.String()),
	}
	for _, a := range []struct{ name, value string }{
		{"domain", e.code.Domain()}, {"tool", e.callInfo.Tool}, {"session_id", e.callInfo.SessionID}, {"ref", e.ref},
		{"cause", e.cause.Message}, {"details", e.details.String()},
	} {
		if a.value != "" {
			attrs = append(attrs, slog.String(a.name, a.value))
		}
	}
	return slog.GroupValue(attrs...)
}
