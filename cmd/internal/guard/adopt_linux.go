//go:build !portableguard

package guard

import (
	"errors"
	"fmt"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// AdoptOrphans makes this process the parent of all its descendants that lose their parent. Processes of a command that has
// killed its guard are then found and killed, even if they have left the process group and the session.
//
// It is for programs that start processes only with [Start] while guarded commands run: any other child would be treated as an
// orphan when a guard is killed.
func AdoptOrphans() error {
	own.mu.Lock()
	defer own.mu.Unlock()
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("becoming the parent of orphans: %w", err)
	}
	own.adopts = true
	return nil
}

// ownChildren holds the processes that [Start] has started and that have not ended. All other children of this process are
// orphans.
type ownChildren struct {
	mu     sync.Mutex // guards the fields below; held from the beginning of a start until its process is known
	pids   map[int]struct{}
	adopts bool
}

var own ownChildren

// start starts cmd and registers its process.
func (o *ownChildren) start(cmd *exec.Cmd) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := cmd.Start(); err != nil {
		return err
	}
	if o.pids == nil {
		o.pids = map[int]struct{}{}
	}
	o.pids[cmd.Process.Pid] = struct{}{}
	return nil
}

// ended removes a process that has been waited for.
func (o *ownChildren) ended(pid int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.pids, pid)
}

// sweepOrphans kills the processes that a killed guard has left, and returns when none is running. A process that is blocked in
// the kernel may take longer; sweepOrphans waits for at most patience.
func (o *ownChildren) sweepOrphans() {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(pace) {
		if !o.killOrphans() {
			return
		}
	}
}

// killOrphans kills the current orphans and reaps those that have ended. It reports whether there were any, because the children
// of a killed one become orphans in turn.
func (o *ownChildren) killOrphans() (found bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.adopts {
		return false
	}
	for _, pid := range children("/proc/self/task") {
		if _, ok := o.pids[pid]; ok {
			continue
		}
		found = true
		_ = syscall.Kill(pid, syscall.SIGKILL) // it was not reaped, so its id cannot have been reused
		for {
			_, err := syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
			if !errors.Is(err, syscall.EINTR) {
				break
			}
		}
	}
	return found
}
