// Package usercode calls methods of types that the user of this module has defined: Error, Unwrap and Is of the errors that a
// handler returns, MarshalJSON of its results. They run after the handler has returned, so its deadline does not cover them, and
// they may panic, end their goroutine or never return.
package usercode

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"reflect"
	"syscall"
	"time"

	"github.com/candor-mcp/candor"
)

// Limit is the time limit for user methods where no shorter one applies.
const Limit = 5 * time.Second

// LimitFor returns the time limit for user methods in a call with the given timeout; 0 means no timeout. It is at least a second,
// because encoding a large result takes a while on a busy machine.
func LimitFor(timeout time.Duration) time.Duration {
	if timeout <= 0 {
		return Limit
	}
	return min(Limit, max(timeout, time.Second))
}

// ErrTimeout is returned for methods that did not return in time. Their goroutine keeps running.
var ErrTimeout = errors.New("a method of the returned value did not return in time")

// ErrGoexit is returned for a method that ended its goroutine.
var ErrGoexit = errors.New("a method of the returned value ended its goroutine")

// PanicError is returned for a method that panicked.
type PanicError struct{ Text string }

// Error returns the text of the panic.
func (e *PanicError) Error() string { return "a method of the returned value panicked: " + e.Text }

// Call runs f on a new goroutine and returns its result, or an error if f panicked, ended its goroutine or did not return within
// limit.
func Call[T any](limit time.Duration, f func() T) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		out := outcome{err: ErrGoexit}
		defer func() { done <- out }()
		defer func() {
			if v := recover(); v != nil {
				out.err = &PanicError{Text: textOf(v)}
			}
		}()
		value := f()
		out = outcome{value: value}
	}()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case out := <-done:
		return out.value, out.err
	case <-timer.C:
		var none T
		return none, ErrTimeout
	}
}

// textOf formats a panic value, whose methods may panic too.
func textOf(v any) (text string) {
	defer func() {
		if recover() != nil {
			text = fmt.Sprintf("a value of type %T", v)
		}
	}()
	return fmt.Sprint(v)
}

// AsError returns the error to report for a method that could not be called, that is, for an error of [Call].
func AsError(err error) *candor.Error {
	name := "panic"
	switch {
	case errors.Is(err, ErrGoexit):
		name = "goexit"
	case errors.Is(err, ErrTimeout):
		name = "timeout"
	}
	return candor.New(candor.CodeInternalError, "", candor.WithOrigin(candor.PartyServer, false),
		candor.WithCauseText(candor.NewCause(err.Error(), "", name)))
}

// Types of errors whose methods run no user code themselves.
var (
	plainType = reflect.TypeOf(errors.New(""))
	wrapType  = reflect.TypeOf(fmt.Errorf("%w", fs.ErrClosed))
	wrapsType = reflect.TypeOf(fmt.Errorf("%w%w", fs.ErrClosed, fs.ErrClosed))
	joinType  = reflect.TypeOf(errors.Join(fs.ErrClosed))
)

const maxTrusted = 32 // errors of one chain

// Trusted reports whether neither err nor any error that it wraps has a method that could be user code, so that its methods may
// be called without a limit.
func Trusted(err error) bool {
	left := maxTrusted
	return trusted(err, &left)
}

func trusted(err error, left *int) bool {
	*left--
	if err == nil || *left < 0 {
		return err == nil
	}
	switch t := reflect.TypeOf(err); t {
	case plainType:
		return true
	case wrapType:
		return trusted(errors.Unwrap(err), left)
	case wrapsType, joinType:
		many, ok := err.(interface{ Unwrap() []error })
		return ok && allTrusted(many.Unwrap(), left)
	default:
		return trustedKind(err, left)
	}
}

func allTrusted(errs []error, left *int) bool {
	for _, err := range errs {
		if !trusted(err, left) {
			return false
		}
	}
	return true
}

// trustedKind is [Trusted] for the error types of the standard library and package candor.
func trustedKind(err error, left *int) bool {
	switch e := err.(type) { //nolint:errorlint // the chain is walked by the caller
	case *candor.Error:
		return trusted(e.Unwrap(), left)
	case syscall.Errno, *json.SyntaxError, *json.UnmarshalTypeError, *net.DNSError:
		return true
	case *fs.PathError:
		return e != nil && trusted(e.Err, left)
	case *os.LinkError:
		return e != nil && trusted(e.Err, left)
	case *os.SyscallError:
		return e != nil && trusted(e.Err, left)
	case *net.OpError:
		return false // its addresses are interfaces, which a user may implement
	}
	return err == context.DeadlineExceeded //nolint:errorlint // only the value itself
}

const maxChain = 256 // errors of one chain, as in package candor

// Finite reports whether errors.Is and errors.As terminate for err. An error that unwraps to itself does not.
func Finite(err error) bool {
	left := maxChain
	return finite(err, &left)
}

func finite(err error, left *int) bool {
	for err != nil {
		if *left--; *left < 0 {
			return false
		}
		switch e := err.(type) { //nolint:errorlint // this is the walk
		case interface{ Unwrap() error }:
			err = e.Unwrap()
		case interface{ Unwrap() []error }:
			for _, inner := range e.Unwrap() {
				if !finite(inner, left) {
					return false
				}
			}
			return true
		default:
			return true
		}
	}
	return true
}

// Wrapped returns the errors that fmt.Errorf or errors.Join wrapped in err, or nil for an error of any other type.
func Wrapped(err error) []error {
	switch reflect.TypeOf(err) {
	case wrapType:
		return []error{errors.Unwrap(err)}
	case wrapsType, joinType:
		if many, ok := err.(interface{ Unwrap() []error }); ok {
			return many.Unwrap()
		}
	}
	return nil
}

// Joined reports whether err was made by errors.Join.
func Joined(err error) bool { return reflect.TypeOf(err) == joinType }
