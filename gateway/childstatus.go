package gateway

import (
	"fmt"
	"os"
)

// Status is how a process ended.
type Status struct {
	Code   int    // the exit code, 128 and the signal's number if one ended it
	Signal string // the name of that signal, "" if none did
}

// String says it in words.
func (s Status) String() string {
	if s.Signal != "" {
		return "ended by " + s.Signal
	}
	return fmt.Sprintf("exited with code %d", s.Code)
}

func statusOf(state *os.ProcessState) Status {
	if state == nil {
		return Status{Code: 1}
	}
	if s, ok := signalled(state); ok {
		return s
	}
	return Status{Code: state.ExitCode()}
}
