//go:build !portableguard

package guard

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const works = true

type job struct{} //nolint:unused // only Windows has one

func (p *Process) start(Options) error { return own.start(p.cmd) }

func (p *Process) ended() { own.ended(p.cmd.Process.Pid) }

// Limitable reports whether [Limits] are enforced on this system.
const Limitable = works

// attributes returns attributes that put a process into a new group, so that it gets no signals for the terminal or group of
// this process. A guard briefly outlives this process, to kill the others; without a guard the command is killed when this process ends.
func attributes(guarded bool) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true}
	if !guarded {
		a.Pdeathsig = syscall.SIGKILL
	}
	return a
}

// Ask sends SIGTERM to the command and its process group. A guard forwards it.
func (p *Process) Ask() {
	if p.line != nil {
		_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may have just ended
		return
	}
	p.signal(syscall.SIGTERM)
}

// force kills the started process, even if it has left its group. A guard is killed with its command.
func (p *Process) force() {
	p.signal(syscall.SIGKILL)
	_ = p.cmd.Process.Kill() // it may have just ended
}

func (p *Process) signal(s syscall.Signal) {
	select {
	case <-p.done: // the id may have been reused
	default:
		_ = syscall.Kill(-p.cmd.Process.Pid, s)
	}
}

// bury determines how the command ended, and kills the remaining processes.
func (p *Process) bury() {
	group := p.cmd.Process.Pid
	p.end = endOf(p.cmd.ProcessState.Sys())
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
		defer own.sweepOrphans()
	}
	sweep(group)
}

// sweep kills a process group and waits, for at most patience, until it has ended. That takes long only if a process is blocked
// in the kernel. The id of the group is not reused while it has members.
func sweep(group int) {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if syscall.Kill(-group, syscall.SIGKILL) != nil || !alive(group) {
			return
		}
	}
}

// alive reports whether a process of a group still runs. Zombies do not count, because their parent may never reap them.
func alive(group int) bool {
	for _, s := range snapshot() {
		if s.group == group && s.state != "Z" && s.state != "X" {
			return true
		}
	}
	return false
}

// Memory returns the bytes of memory that the command and all processes it has started use. Pages of mapped files do not count:
// processes share them, and the kernel can drop them. Without a guard, the processes of its group are counted.
func (p *Process) Memory() (bytes int64) {
	all, root := snapshot(), p.cmd.Process.Pid
	for pid, s := range all {
		if s.group == root && p.line == nil || p.line != nil && pid != root && all.below(pid, root) {
			bytes += held(pid)
		}
	}
	return bytes
}

// held returns the bytes of memory of a process that are not pages of a mapped file.
func held(pid int) (bytes int64) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return 0 // it has just ended
	}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		if name != "RssAnon" && name != "RssShmem" {
			continue
		}
		if fields := strings.Fields(value); len(fields) > 0 {
			kib, _ := strconv.ParseInt(fields[0], 10, 64) // the kernel writes a number
			bytes += kib << 10
		}
	}
	return bytes
}

// stat is the status of a process in /proc.
type stat struct {
	state         string
	parent, group int
}

type processes map[int]stat

// below reports whether a process is root or one of its descendants.
func (all processes) below(pid, root int) bool {
	for range len(all) + 1 { // parents read at different times may seem to form a cycle
		if pid == root {
			return true
		}
		s, ok := all[pid]
		if !ok {
			return false
		}
		pid = s.parent
	}
	return false
}

// snapshot reads the status of every process from /proc.
func snapshot() processes {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	all := processes{}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		text, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue // it has just ended
		}
		text = text[bytes.LastIndexByte(text, ')')+1:] // the name before it may contain any character
		fields := strings.Fields(string(text))
		if len(fields) < 3 {
			continue
		}
		s := stat{state: fields[0]}
		s.parent, _ = strconv.Atoi(fields[1]) // the kernel writes a number
		s.group, _ = strconv.Atoi(fields[2])
		all[pid] = s
	}
	return all
}
