//go:build !portableguard

package guard

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A seccomp filter is a small program that the kernel runs for each system call of a process. Its input is struct seccomp_data:
// the number of the call, the architecture, the address of the instruction, and six 64-bit arguments, in native byte order.
const (
	atNumber = 0
	atArch   = 4
	atArgs   = 16
)

// architectures are those that the lists of calls below are written for.
var architectures = map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}

// filterable reports whether the kernel supports seccomp filters and there are lists for this architecture.
func filterable() bool {
	if architectures[runtime.GOARCH] == 0 {
		return false
	}
	action := uint32(unix.SECCOMP_RET_ERRNO)
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, uintptr(unsafe.Pointer(&action))) //nolint:gosec // the kernel takes its address
	return errno == 0
}

// restrictCalls sets the filter for the calling thread. The filter is kept across exec and inherited by children.
func restrictCalls(program []unix.SockFilter) error {
	p := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}                                                             //nolint:gosec // some hundred instructions
	if _, _, errno := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&p))); errno != 0 { //nolint:gosec // the kernel takes its address
		return errno
	}
	return nil
}

const (
	allow     = unix.SECCOMP_RET_ALLOW
	denyPerm  = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	denyNoSys = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
)

// x32 marks calls of the x32 ABI on amd64, which have other numbers.
const x32 = 0x40000000

// filter returns the program for a process: refused calls fail with EPERM, all others are allowed. If only is not nil,
// the process can execute nothing but the path at this address, which has no meaning in the memory of the command.
func filter(arch uint32, pid int, only *byte) []unix.SockFilter {
	program := []unix.SockFilter{
		load(atArch), jump(unix.BPF_JEQ, arch, 1, 0), verdict(unix.SECCOMP_RET_KILL_PROCESS),
		load(atNumber), jump(unix.BPF_JGE, x32, 0, 1), verdict(denyPerm),
	}
	// A thread is started by clone with CLONE_THREAD, and a process without it. The flags of clone3 are in memory, which a filter
	// cannot read. Libraries fall back to clone if clone3 does not exist.
	program = append(program, jump(unix.BPF_JEQ, unix.SYS_CLONE3, 0, 1), verdict(denyNoSys))
	program = append(program, jump(unix.BPF_JEQ, unix.SYS_CLONE, 0, 4),
		load(atArgs), jump(unix.BPF_JSET, unix.CLONE_THREAD, 0, 1), verdict(allow), verdict(denyPerm))
	for _, number := range []uint32{unix.SYS_KILL, unix.SYS_TGKILL} { // only to itself, as in abort
		program = append(program, jump(unix.BPF_JEQ, number, 0, 4),
			load(atArgs), jump(unix.BPF_JEQ, uint32(pid), 0, 1), verdict(allow), verdict(denyPerm)) //nolint:gosec // process numbers are positive
	}
	// prlimit64 reads limits if its third argument is null, and sets them otherwise.
	program = append(program, jump(unix.BPF_JEQ, unix.SYS_PRLIMIT64, 0, 6), load(atArgs+2*8), jump(unix.BPF_JEQ, 0, 0, 3),
		load(atArgs+2*8+4), jump(unix.BPF_JEQ, 0, 0, 1), verdict(allow), verdict(denyPerm))
	// Shared memory does not count for the limit on data (RLIMIT_DATA). Pages of shared files are bounded by the limits on files.
	program = append(program, jump(unix.BPF_JEQ, unix.SYS_MMAP, 0, 5), load(atArgs+3*8), jump(unix.BPF_JSET, unix.MAP_ANONYMOUS, 0, 2),
		jump(unix.BPF_JSET, unix.MAP_SHARED, 0, 1), verdict(denyPerm), verdict(allow))
	if path := uint64(uintptr(unsafe.Pointer(only))); path != 0 { //nolint:gosec // it is compared only
		program = append(program, jump(unix.BPF_JEQ, unix.SYS_EXECVEAT, 0, 1), verdict(denyPerm),
			jump(unix.BPF_JEQ, unix.SYS_EXECVE, 0, 6), load(atArgs), jump(unix.BPF_JEQ, uint32(path), 0, 3), //nolint:gosec // its lower half
			load(atArgs+4), jump(unix.BPF_JEQ, uint32(path>>32), 0, 1), verdict(allow), verdict(denyPerm)) //nolint:gosec // its upper half
	}
	for _, number := range append(refused, refusedHere...) {
		program = append(program, jump(unix.BPF_JEQ, number, 0, 1), verdict(denyPerm))
	}
	return append(program, verdict(allow))
}

func load(at uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
}

// jump compares the loaded value with k and skips then instructions if they match, and otherwise instructions if not.
func jump(compare uint16, k uint32, then, otherwise uint8) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | compare | unix.BPF_K, K: k, Jt: then, Jf: otherwise}
}

func verdict(action uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: action}
}

// refused are the calls that a confined command cannot make, on all architectures; see refusedHere for the others.
var refused = []uint32{
	unix.SYS_SOCKET, unix.SYS_IO_URING_SETUP, // io_uring opens sockets without the call
	unix.SYS_TKILL, unix.SYS_RT_SIGQUEUEINFO, unix.SYS_RT_TGSIGQUEUEINFO, unix.SYS_PIDFD_SEND_SIGNAL, unix.SYS_PIDFD_OPEN, unix.SYS_PIDFD_GETFD,
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PROCESS_MADVISE, unix.SYS_KCMP,
	unix.SYS_SETRLIMIT, unix.SYS_SETPRIORITY, unix.SYS_SCHED_SETSCHEDULER, unix.SYS_SCHED_SETATTR, unix.SYS_SCHED_SETPARAM, unix.SYS_SCHED_SETAFFINITY,
	unix.SYS_IOPRIO_SET, unix.SYS_MIGRATE_PAGES, unix.SYS_MOVE_PAGES, unix.SYS_PROCESS_MRELEASE,
	unix.SYS_MEMFD_CREATE, unix.SYS_MEMFD_SECRET, // memory that no limit counts
	// Landlock does not cover the attributes of files.
	unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_FCHOWN, unix.SYS_FCHOWNAT, unix.SYS_UTIMENSAT,
	unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR, unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR, unix.SYS_FREMOVEXATTR,
	unix.SYS_NAME_TO_HANDLE_AT, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_FANOTIFY_INIT,
	// Objects that outlive a process.
	unix.SYS_SHMGET, unix.SYS_SEMGET, unix.SYS_MSGGET, unix.SYS_MQ_OPEN, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL,
	// The system itself, for commands that run as root.
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_FSOPEN, unix.SYS_OPEN_TREE,
	unix.SYS_MOVE_MOUNT, unix.SYS_MOUNT_SETATTR, unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_INIT_MODULE,
	unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_KEXEC_LOAD, unix.SYS_REBOOT, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_SYSLOG,
	unix.SYS_ACCT, unix.SYS_QUOTACTL, unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_ADJTIMEX, unix.SYS_CLOCK_ADJTIME,
	unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME, unix.SYS_VHANGUP,
}
