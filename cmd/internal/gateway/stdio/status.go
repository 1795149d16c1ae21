package stdio

import (
	"fmt"
	"syscall"

	"github.com/candor-mcp/candor/cmd/internal/guard"
)

// Status describes how a process ended.
type Status struct {
	Code   int    // the exit code, or 128 plus the number of the signal that ended the process
	Signal string // the name of that signal, or ""
}

// String describes the status, such as "exited with code 1".
func (s Status) String() string {
	if s.Signal != "" {
		return "ended by " + s.Signal
	}
	return fmt.Sprintf("exited with code %d", s.Code)
}

func statusOf(end guard.End) Status {
	s := Status{Code: end.Code}
	if end.Signal != 0 {
		s.Signal = signalName(end.Signal)
	}
	return s
}

// signalName returns the name of a common signal, or its number.
func signalName(sig syscall.Signal) string {
	switch sig {
	case syscall.SIGKILL:
		return "SIGKILL"
	case syscall.SIGTERM:
		return "SIGTERM"
	case syscall.SIGINT:
		return "SIGINT"
	case syscall.SIGSEGV:
		return "SIGSEGV"
	case syscall.SIGABRT:
		return "SIGABRT"
	case syscall.SIGPIPE:
		return "SIGPIPE"
	case syscall.SIGHUP:
		return "SIGHUP"
	case syscall.SIGQUIT:
		return "SIGQUIT"
	case syscall.SIGBUS:
		return "SIGBUS"
	case syscall.SIGFPE:
		return "SIGFPE"
	case syscall.SIGILL:
		return "SIGILL"
	default:
		return sig.String()
	}
}
