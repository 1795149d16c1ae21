package gateway

import (
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

// A guard is a small process between the gateway and the server. The kernel can tie the life of a process to that of its parent,
// but not the lives of all that it starts in turn. The guard adopts them: whoever loses its parent becomes its child, even one
// that has left the process group, and when the gateway is gone, however it went, the guard ends them all.

const guardsWork = true

// The files that a guard is born with, besides the server's three: see [Child.start].
const (
	guardOrders = 3 // ends when the gateway does, or when it wants the server killed
	guardReport = 4 // how the server ended
)

// report returns how the server ended, told by the guard; its own end if it could not tell.
func (g *guardLine) report(own Status) Status {
	defer g.close()
	text, _ := io.ReadAll(io.LimitReader(g.told, 64)) // a guard that was killed has told nothing
	kind, number, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
	n, err := strconv.Atoi(number)
	switch {
	case err != nil:
		return own
	case kind == "signal":
		return signalStatus(syscall.Signal(n))
	default:
		return Status{Code: n}
	}
}

// order has the guard kill everything, and reports whether it did.
func (g *guardLine) order(done <-chan struct{}) bool {
	_ = g.orders.Close()
	select {
	case <-done:
		return true
	case <-time.After(time.Second):
		return false
	}
}

func (g *guardLine) close() { _, _ = g.orders.Close(), g.told.Close() }

// Guard runs the command line for a gateway that was given a [Child.Guard], and returns the exit code for the process, which must
// have been started by one. Nothing that the command starts outlives the gateway or the command.
func Guard(line []string) int {
	runtime.LockOSThread() // the death of the thread that starts the server would end the server
	syscall.CloseOnExec(guardOrders)
	syscall.CloseOnExec(guardReport)
	orders, report := os.NewFile(guardOrders, "orders"), os.NewFile(guardReport, "report")
	if len(line) == 0 || orders == nil || report == nil {
		return 2
	}
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGPIPE) // the server is asked too
	adopt()
	pid, err := syscall.ForkExec(line[0], line, &syscall.ProcAttr{
		Env: os.Environ(), Files: []uintptr{0, 1, 2}, Sys: &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL},
	})
	if err != nil {
		fmt.Fprintf(os.Stderr, "starting %q: %v\n", line[0], err)
		return 127
	}
	letGo()
	go func() {
		_, _ = io.Copy(io.Discard, orders)
		for { // until the wait below is over and this process with it
			killChildren()
			time.Sleep(time.Millisecond)
		}
	}()
	status := await(pid)
	endAll()
	if status.Signaled() {
		fmt.Fprintf(report, "signal %d\n", int(status.Signal()))
		return 128 + int(status.Signal())
	}
	fmt.Fprintf(report, "exit %d\n", status.ExitStatus())
	return status.ExitStatus()
}

// adopt makes this process the parent of every descendant that loses its own.
func adopt() {
	const prSetChildSubreaper = 36
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, prSetChildSubreaper, 1, 0)
}

// letGo closes the guard's own copies of the server's files, so that the gateway sees when the server closes them.
func letGo() {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return
	}
	for fd := range 3 {
		_ = syscall.Dup3(int(null.Fd()), fd, 0)
	}
	_ = null.Close()
}

// await reaps until the server itself has ended.
func await(pid int) syscall.WaitStatus {
	for {
		var status syscall.WaitStatus
		got, err := syscall.Wait4(-1, &status, 0, nil)
		if got == pid || err != nil && err != syscall.EINTR {
			return status
		}
	}
}

// endAll kills and reaps the children of this process until it has none. Those of the killed become its own and are next.
func endAll() {
	for range 500 {
		killChildren()
		if _, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); err == syscall.ECHILD {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// killChildren kills those that this process has at the moment. /proc is the only place that tells.
func killChildren() {
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return
	}
	for _, task := range tasks {
		text, _ := os.ReadFile("/proc/self/task/" + task.Name() + "/children") // a thread may just have ended
		for _, word := range strings.Fields(string(text)) {
			if pid, err := strconv.Atoi(word); err == nil {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	}
}
