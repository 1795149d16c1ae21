//go:build unix && (!linux || portableguard)

package guard

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// This file is the guard of Unix systems other than Linux. They cannot find descendants that have left the process group of the
// command, so a guard here kills only that group: when the command ends, on request, and when this process ends in any way.
//
// The tag portableguard builds it on Linux, so that it can be tested there.

const works = true

type job struct{} //nolint:unused // only Windows has one

// Limitable reports whether [Limits] are enforced on this system.
const Limitable = false

// attributes returns attributes that put a process into a new group, so that it gets no signals for the terminal or group of
// this process.
func attributes(bool) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func (p *Process) start(Options) error { return p.cmd.Start() }

func (p *Process) ended() {}

// Ask sends SIGTERM to the command and its process group. A guard forwards it.
func (p *Process) Ask() { p.signal(syscall.SIGTERM) }

// force kills the started process. The group of a command whose guard is killed is killed in bury.
func (p *Process) force() { p.signal(syscall.SIGKILL) }

func (p *Process) signal(s syscall.Signal) {
	select {
	case <-p.done: // the id may have been reused
	default:
		_ = syscall.Kill(-p.cmd.Process.Pid, s) // it may have just ended
	}
}

// bury determines how the command ended, and kills the processes that remain in its group.
func (p *Process) bury() {
	group := p.cmd.Process.Pid
	p.end = endOf(p.cmd.ProcessState.Sys())
	if p.line != nil {
		defer p.line.close()
		pid, end := p.line.report()
		if end != nil {
			p.end = *end
			return // the guard has killed the group
		}
		if group = pid; pid == 0 {
			return // the command was not started
		}
	}
	sweep(group)
}

// sweep kills a process group and waits, for at most patience, until it has no members. The id of the group is not reused while it
// has some.
func sweep(group int) {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if syscall.Kill(-group, syscall.SIGKILL) != nil {
			return
		}
	}
}

// AdoptOrphans is not supported on this system and does nothing.
func AdoptOrphans() error { return nil }

// Memory is not supported on this system and returns 0.
func (*Process) Memory() int64 { return 0 }

// Confinable reports that no part of a [Confinement] can be enforced on this system.
func Confinable() (files, calls bool) { return false, false }

// Main runs the hidden command whose arguments [Start] writes: the guard. It returns the exit code for the process.
func Main(args []string) int {
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

// watch runs the command, kills its process group when the command ends or the orders are closed, and returns its exit code.
func watch(command []string) int {
	report := os.NewFile(reportFD, "report")
	tell := func(word string, n int) { _, _ = fmt.Fprintf(report, "%s %d\n", word, n) } // the parent may have ended
	asked := make(chan os.Signal, 8)
	for _, s := range []os.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT} {
		if !signal.Ignored(s) { // subscribing to an ignored signal, as under nohup, would give the command the default action
			signal.Notify(asked, s)
		}
	}
	cmd := exec.Cmd{Path: command[0], Args: command, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true}} // the command may kill its process group without the guard
	if err := cmd.Start(); err != nil {
		fmt.Fprintf(os.Stderr, "starting %q: %v\n", command[0], err)
		tell(toldExit, 127)
		return 127
	}
	group := cmd.Process.Pid
	tell(toldPID, group)
	letGo()
	ordered := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.NewFile(ordersFD, "orders"))
		close(ordered)
	}()
	gone := make(chan struct{})
	go func() {
		_ = cmd.Wait() // the state has more detail
		close(gone)
	}()
	forward(group, asked, ordered, gone)
	sweep(group)
	end := endOf(cmd.ProcessState.Sys())
	if end.Signal != 0 {
		tell(toldSignal, int(end.Signal))
	} else {
		tell(toldExit, end.Code)
	}
	return end.Code
}

// forward passes signals to a process group and kills the group when it is ordered to, until the command is gone.
func forward(group int, asked <-chan os.Signal, ordered, gone <-chan struct{}) {
	for {
		select {
		case <-gone:
			return
		case s := <-asked:
			if n, ok := s.(syscall.Signal); ok {
				_ = syscall.Kill(-group, n) // it may have just ended
			}
		case <-ordered:
			sweepUntil(group, gone)
			return
		}
	}
}

// sweepUntil kills a process group again and again, because a member may start others meanwhile.
func sweepUntil(group int, gone <-chan struct{}) {
	for {
		_ = syscall.Kill(-group, syscall.SIGKILL) // it may have just ended
		select {
		case <-gone:
			return
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// letGo closes the guard's copies of the command's streams, so that readers see when the command closes them.
func letGo() {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return
	}
	for fd := range 3 {
		_ = unix.Dup2(int(null.Fd()), fd)
	}
	_ = null.Close()
}
