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

// AdoptOrphans makes this process the parent of all its descendants that lose their parent. Processes of a command
// that has killed its guard are then found and killed, even if they have left the process group and the session.
//
// It is for programs that start processes only with [Start] while guarded commands run: any other child would be
// treated as an orphan when a guard is killed.
func AdoptOrphans() error {
	own.mu.Lock()
	defer own.mu.Unlock()
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("becoming the parent of orphans: %w", err)
	}
	own.adopts = true
	return nil
}

// ownChildren are the processes that [Start] has started and that have not ended. All other children of this process are orphans.
type ownChildren struct {
	mu     sync.Mutex // guards all below; held from the beginning of a start until its process is known
	pids   map[int]struct{}
	adopts bool
}

var own ownChildren

// start starts cmd and remembers its process.
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

// ended forgets a process that has been waited for.
func (o *ownChildren) ended(pid int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.pids, pid)
}

// sweepOrphans ends what a killed guard has left behind, and returns when nothing of it runs any more. Only processes that the kernel
// itself holds take longer than a moment, and these are not waited for beyond patience.
func (o *ownChildren) sweepOrphans() {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(pace) {
		if !o.killOrphans() {
			return
		}
	}
}

// killOrphans kills the orphans there are and reaps those that have ended. It reports whether any was there: the children of a killed
// one become orphans in turn.
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
		_ = syscall.Kill(pid, syscall.SIGKILL) // not reaped before, so that the number is still its own
		for {
			_, err := syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
			if !errors.Is(err, syscall.EINTR) {
				break
			}
		}
	}
	return found
}
