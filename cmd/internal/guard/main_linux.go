//go:build !portableguard

package guard

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// pace is how often a guard looks for new descendants while it kills all processes.
const pace = time.Millisecond

// Main runs the hidden command whose arguments [Start] writes: the guard itself, or the step that sets the limits and executes
// the command. It returns the exit code for the process.
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
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		fmt.Fprintf(os.Stderr, "becoming the parent of orphans: %v\n", err)
		return 127
	}
	pid, err := syscall.ForkExec(command[0], command, &syscall.ProcAttr{
		Env: os.Environ(), Files: []uintptr{0, 1, 2},
		Sys: &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}, // the command may kill its process group without the guard
	})
	if err != nil {
		fmt.Fprintf(os.Stderr, "starting %q: %v\n", command[0], err)
		w.tell(toldExit, 127)
		return 127
	}
	w.pid = pid
	w.tell(toldPID, pid)
	letGo()
	go func() {
		_, _ = io.Copy(io.Discard, os.NewFile(ordersFD, "orders"))
		close(w.ordered)
	}()
	end, all := w.keep()
	if !all {
		return end.Code // without a report, so that the parent kills the remaining processes
	}
	if end.Signal != 0 {
		w.tell(toldSignal, int(end.Signal))
	} else {
		w.tell(toldExit, end.Code)
	}
	return end.Code
}

// letGo closes the guard's copies of the command's streams, so that readers see when the command closes them.
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

// keep waits for the end of the command, kills all other descendants, and reports whether all have ended. One goroutine kills and
// reaps, so that the id of a child cannot be reused before it is killed.
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

// killChildren kills the current children of this process. Their children become children of this process and are killed in the
// next round.
func killChildren() {
	for _, pid := range children("/proc/self/task") {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// children returns the process ids that the kernel lists for the threads of this process. If the kernel has no such list, all
// processes are searched, which is slower.
func children(threads string) (pids []int) {
	tasks, _ := os.ReadDir(threads)
	listed := false
	for _, task := range tasks {
		text, err := os.ReadFile(filepath.Join(threads, task.Name(), "children"))
		listed = listed || err == nil // a thread may have just ended
		for _, word := range strings.Fields(string(text)) {
			if pid, err := strconv.Atoi(word); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	if listed {
		return pids
	}
	for pid, s := range snapshot() {
		if s.parent == os.Getpid() {
			pids = append(pids, pid)
		}
	}
	return pids
}
