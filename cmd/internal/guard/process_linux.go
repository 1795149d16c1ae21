//go:build !portableguard

package guard

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Limitable reports whether [Limits] are enforced on this system.
const Limitable = true

// attributes returns attributes that put a process into a new group, so that it gets no signals for the terminal or group of
// this process. A guard briefly outlives this process, to kill the others; without a guard the command is killed when this process ends.
func attributes(guarded bool) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true}
	if !guarded {
		a.Pdeathsig = syscall.SIGKILL
	}
	return a
}

// adoptOrphans makes this process the parent of all its descendants that lose their parent.
func adoptOrphans() error { return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

func duplicate(from, to int) error { return syscall.Dup3(from, to, 0) }

// killChildren kills the current children of this process, which the kernel lists for each thread. Their children become children
// of this process and are killed in the next round.
func killChildren() {
	const threads = "/proc/self/task"
	tasks, _ := os.ReadDir(threads)
	for _, task := range tasks {
		text, _ := os.ReadFile(filepath.Join(threads, task.Name(), "children")) // a thread may have just ended
		for _, word := range strings.Fields(string(text)) {
			if pid, err := strconv.Atoi(word); err == nil {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
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
