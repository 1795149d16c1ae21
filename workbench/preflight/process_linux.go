package preflight

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// attributes give a command a process group of its own, so that all of it can be ended, and tie its life to ours.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

func killGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }

// groupAlive reports whether anybody of a group still runs. Those that have ended, and only wait to be noticed by their new parent,
// do not count: they may wait for ever if that parent never looks.
func groupAlive(pid int) bool {
	if err := syscall.Kill(-pid, 0); err != nil {
		return false
	}
	alive := false
	eachOf(pid, func(stat []string) { alive = alive || stat[0] != "Z" && stat[0] != "X" })
	return alive
}

// groupMemory is what the processes of a group hold in memory together, pages that they share counted each time.
func groupMemory(pid int) int64 {
	var pages int64
	eachOf(pid, func(stat []string) {
		n, _ := strconv.ParseInt(stat[21], 10, 64) // what the kernel writes is a number
		pages += n
	})
	return pages * int64(os.Getpagesize())
}

// eachOf calls do with the fields of /proc/PID/stat, from the state on, for each process of a group. /proc is the only place that tells.
func eachOf(group int, do func(stat []string)) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return
	}
	want := strconv.Itoa(group)
	for _, e := range entries {
		if name := e.Name(); name[0] < '0' || name[0] > '9' {
			continue
		}
		text, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue // it has just ended
		}
		text = text[bytes.LastIndexByte(text, ')')+1:] // the name before may hold anything
		if stat := strings.Fields(string(text)); len(stat) > 21 && stat[2] == want {
			do(stat)
		}
	}
}

// signalOf names the signal that ended a process; "" if it was none.
func signalOf(state *os.ProcessState) string {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return status.Signal().String()
	}
	return ""
}
