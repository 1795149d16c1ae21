package kaiza_test

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// asLauncher executes the command of [startFaulty] if the process was started as its launcher, and returns otherwise.
func asLauncher() {
	fd, err := strconv.Atoi(os.Getenv(launcherEnv))
	if err != nil {
		return
	}
	runtime.LockOSThread() // the filter applies to one thread, which must execute the command
	if err := launchFiltered(fd); err != nil {
		fmt.Fprintln(os.Stderr, "starting under a filter:", err)
	}
	os.Exit(125)
}

func launchFiltered(socket int) error {
	if err := os.Unsetenv(launcherEnv); err != nil {
		return err
	}
	environment := os.Environ()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	notes, err := installFilter()
	if err != nil {
		return err
	}
	if err := unix.Sendmsg(socket, []byte{0}, unix.UnixRights(notes), nil, 0); err != nil {
		return err
	}
	unix.CloseOnExec(socket)
	unix.CloseOnExec(notes)
	return syscall.Exec(os.Args[1], os.Args[1:], environment)
}

// installFilter installs the filter and returns the notification descriptor.
func installFilter() (int, error) {
	program := []unix.SockFilter{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}} // the system call number
	for number := range systemCalls {
		program = append(program,
			unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: uint32(number)},
			unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: returnNotify})
	}
	program = append(program, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: returnAllow})
	filter := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	fd, _, errno := syscall.Syscall(unix.SYS_SECCOMP, setModeFilter, newListener, uintptr(unsafe.Pointer(&filter)))
	if errno != 0 {
		return 0, errno
	}
	return int(fd), nil
}
