package gateway

import (
	"os"
	"syscall"
)

// attributes give a server a process group of its own, so that all of it can be ended, and tie its life to ours. A guard outlives
// us a little, to end the rest.
func attributes(guarded bool) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true}
	if !guarded {
		a.Pdeathsig = syscall.SIGKILL
	}
	return a
}

func signalled(state *os.ProcessState) (Status, bool) {
	w, ok := state.Sys().(syscall.WaitStatus)
	if !ok || !w.Signaled() {
		return Status{}, false
	}
	return signalStatus(w.Signal()), true
}

func signalStatus(sig syscall.Signal) Status {
	return Status{Code: 128 + int(sig), Signal: signalName(sig)}
}

// signalName spells the signals that end servers; others are told by number.
func signalName(sig syscall.Signal) string {
	switch sig {
	case syscall.SIGKILL:
		return "SIGKILL"
	case syscall.SIGTERM:
		return "SIGTERM"
	case syscall.SIGINT:
		return "SIGINT"
	case syscall.SIGSEGV:
		return "SIGSEGV"
	case syscall.SIGABRT:
		return "SIGABRT"
	case syscall.SIGPIPE:
		return "SIGPIPE"
	case syscall.SIGHUP:
		return "SIGHUP"
	case syscall.SIGQUIT:
		return "SIGQUIT"
	case syscall.SIGBUS:
		return "SIGBUS"
	case syscall.SIGFPE:
		return "SIGFPE"
	case syscall.SIGILL:
		return "SIGILL"
	default:
		return sig.String()
	}
}

// terminate asks the whole group to end.
func (p *process) terminate() { _ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGTERM) }

// kill ends all of it. A guard does it better, because it also finds who has left the group.
func (p *process) kill() {
	if p.guard != nil && p.guard.order(p.done) {
		return
	}
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
}

// sweep ends what the process has left behind in its group. The group's number is not used again while it has members.
func (p *process) sweep() { _ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) }
