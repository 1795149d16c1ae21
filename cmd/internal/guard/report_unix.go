//go:build unix

package guard

import (
	"io"
	"strconv"
	"strings"
	"syscall"
)

// Keywords of the report of a guard, one per line, each with a number.
const (
	toldPID    = "pid"
	toldExit   = "exit"
	toldSignal = "signal"
)

func endOf(state any) End {
	status, ok := state.(syscall.WaitStatus)
	switch {
	case !ok:
		return End{Code: 1}
	case status.Signaled():
		return End{Code: 128 + int(status.Signal()), Signal: status.Signal()}
	}
	return End{Code: status.ExitStatus()}
}

// report reads the report of the guard: the process id of the command, and how it ended. A guard that was killed may have
// reported neither.
func (l *line) report() (pid int, end *End) {
	text, _ := io.ReadAll(io.LimitReader(l.told, 256)) // the guard was the only writer and has ended
	for line := range strings.Lines(string(text)) {
		word, number, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		n, err := strconv.Atoi(number)
		switch {
		case err != nil || !strings.HasSuffix(line, "\n"):
		case word == toldPID:
			pid = n
		case word == toldSignal:
			end = &End{Code: 128 + n, Signal: syscall.Signal(n)}
		case word == toldExit:
			end = &End{Code: n}
		}
	}
	return pid, end
}
