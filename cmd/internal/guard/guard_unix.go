//go:build unix

package guard

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const works = true

type job struct{} //nolint:unused // only Windows has one

func (p *Process) start(Options) error { return p.cmd.Start() }

// Ask sends SIGTERM to the command and its process group. A guard forwards it.
func (p *Process) Ask() { p.signal(syscall.SIGTERM) }

// force kills the started process, even if it has left its group. A guard is killed with its command.
func (p *Process) force() {
	p.signal(syscall.SIGKILL)
	_ = p.cmd.Process.Kill() // it may have just ended
}

func (p *Process) signal(s syscall.Signal) {
	select {
	case <-p.done: // the id may have been reused
	default:
		_ = syscall.Kill(-p.cmd.Process.Pid, s) // it may have just ended
	}
}

// bury determines how the command ended, and kills the remaining processes.
func (p *Process) bury() {
	group := p.cmd.Process.Pid
	status, _ := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	p.end = endOf(status)
	if p.line != nil {
		defer p.line.close()
		pid, end := p.line.report()
		if end != nil {
			p.end = *end
			return // the guard has killed all processes
		}
		if group = pid; pid == 0 {
			return // the command was not started
		}
	}
	sweep(group)
}

// sweep kills a process group and waits, for at most patience, until it has ended. That takes long only if a process is
// blocked in the kernel. The id of the group is not reused while it has members.
func sweep(group int) {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if syscall.Kill(-group, syscall.SIGKILL) != nil || !alive(group) {
			return
		}
	}
}

func endOf(status syscall.WaitStatus) End {
	if status.Signaled() {
		return End{Code: 128 + int(status.Signal()), Signal: status.Signal()}
	}
	return End{Code: status.ExitStatus()}
}

// Keywords of the report of a guard, one per line, each with a number.
const (
	reportPID    = "pid"
	reportExit   = "exit"
	reportSignal = "signal"
)

// report reads the report of the guard: the process id of the command, and how it ended. A guard that was killed may
// have reported only one of them, or nothing.
func (l *line) report() (pid int, end *End) {
	text, _ := io.ReadAll(io.LimitReader(l.reports, 256)) // the guard was the only writer and has ended
	for line := range strings.Lines(string(text)) {
		word, number, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		n, err := strconv.Atoi(number)
		switch {
		case err != nil || !strings.HasSuffix(line, "\n"):
		case word == reportPID:
			pid = n
		case word == reportSignal:
			end = &End{Code: 128 + n, Signal: syscall.Signal(n)}
		case word == reportExit:
			end = &End{Code: n}
		}
	}
	return pid, end
}

// pace is how often a guard looks for new descendants while it kills all processes.
const pace = time.Millisecond

// Main runs the hidden command whose arguments [Start] writes: the guard itself, or the step that sets the limits and
// executes the command. It returns the exit code for the process.
func Main(args []string) int {
	runtime.LockOSThread() // the end of the thread that starts the command would end the command
	if len(args) > 0 && args[0] == limitedWord {
		fmt.Fprintln(os.Stderr, become(args[1:]))
		return 127
	}
	if len(args) < 4 || args[0] != holdWord || args[2] != endWord {
		fmt.Fprintln(os.Stderr, "guard is for this program's own use")
		return 2
	}
	held, err := strconv.Atoi(args[1])
	if err != nil || held < 0 || held > 64 {
		return 2
	}
	for fd := ordersFD; fd < holdFD+held; fd++ {
		syscall.CloseOnExec(fd)
	}
	return watch(args[3:])
}

// watch runs the command, waits until all processes that it has started have ended, and returns the command's exit code.
func watch(command []string) int {
	w := watchman{
		report: os.NewFile(reportFD, "report"), ordered: make(chan struct{}), changed: make(chan os.Signal, 1), asked: make(chan os.Signal, 8),
	}
	signal.Notify(w.changed, syscall.SIGCHLD)
	for _, s := range []os.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT} {
		if !signal.Ignored(s) { // subscribing to an ignored signal, as under nohup, would give the command the default action
			signal.Notify(w.asked, s)
		}
	}
	if err := adoptOrphans(); err != nil {
		fmt.Fprintf(os.Stderr, "becoming the parent of orphans: %v\n", err)
		return 127
	}
	group, err := syscall.ForkExec(command[0], command, &syscall.ProcAttr{Env: os.Environ(), Files: []uintptr{0, 1, 2}, Sys: attributes(false)})
	if err != nil {
		fmt.Fprintf(os.Stderr, "starting %q: %v\n", command[0], err)
		w.tell(reportExit, 127)
		return 127
	}
	w.pid = group
	w.tell(reportPID, group)
	releaseStreams()
	go func() {
		_, _ = io.Copy(io.Discard, os.NewFile(ordersFD, "orders"))
		close(w.ordered)
	}()
	end, all := w.keep()
	if !all {
		return end.Code // without a report, so that the parent kills the remaining processes
	}
	sweep(group)
	if end.Signal != 0 {
		w.tell(reportSignal, int(end.Signal))
	} else {
		w.tell(reportExit, end.Code)
	}
	return end.Code
}

// releaseStreams closes the guard's copies of the command's streams, so that readers see when the command closes them.
func releaseStreams() {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return
	}
	for fd := range 3 {
		_ = duplicate(int(null.Fd()), fd)
	}
	_ = null.Close()
}

// watchman is a running guard.
type watchman struct {
	pid     int // process and group id of the command; 0 when it has ended
	end     End
	report  *os.File
	ordered chan struct{}  // closed when all processes must be killed
	changed chan os.Signal // a child has ended; one signal may represent several children
	asked   chan os.Signal // requests to end, which are forwarded to the command
}

func (w *watchman) tell(word string, n int) { _, _ = fmt.Fprintf(w.report, "%s %d\n", word, n) } // the parent may have ended

// keep waits for the end of the command, kills all other descendants, and reports whether all have ended. One goroutine
// kills and reaps, so that the id of a child cannot be reused before it is killed.
func (w *watchman) keep() (end End, all bool) {
	var again <-chan time.Time // ticks while all processes are being killed
	var late <-chan time.Time  // the processes left then are blocked in the kernel, and end when that call returns
	ordered := w.ordered
	for {
		select {
		case <-w.changed:
		case <-again:
		case s := <-w.asked:
			if n, ok := s.(syscall.Signal); ok && w.pid != 0 {
				_ = syscall.Kill(-w.pid, n)
			}
		case <-ordered:
			again, ordered = time.Tick(pace), nil
		case <-late:
			return w.end, false
		}
		if w.reap() {
			return w.end, true
		}
		if w.pid == 0 && late == nil {
			again, late = time.Tick(pace), time.After(patience/2)
		}
		if again != nil {
			killChildren()
			if w.pid != 0 { // even if the children cannot be listed
				_ = syscall.Kill(-w.pid, syscall.SIGKILL)
			}
		}
	}
}

// reap reaps every child that has ended, and reports whether no child is left.
func (w *watchman) reap() (alone bool) {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return true
		case pid == 0:
			return false
		case pid == w.pid:
			w.pid, w.end = 0, endOf(status)
		}
	}
}
