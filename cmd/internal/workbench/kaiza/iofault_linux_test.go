package kaiza_test

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// These tests make chosen file system calls of a child process fail, to check that the program reports I/O errors correctly.
// They work from outside, on the unmodified program.
//
// A small launcher installs a seccomp filter that passes every file system call to the parent, which lets it
// through or returns an error. Calls are counted across all threads of the program, so the n-th call does not depend on the
// thread that makes it. close is not intercepted: an injected error would leave the file open, which the kernel never
// does.

// ioCall is a file system call that the program is about to make.
type ioCall struct {
	Index   int    // from 1, since [injector.arm]
	Name    string // as in its manual page
	Path    string // the file it operates on, if known
	Changes bool   // it changes the disk, or makes a change durable
	Grows   bool   // it needs space
}

// faultPlan returns the errno with which a call fails, or 0 to let it through. faultPlan is not called concurrently.
type faultPlan func(c ioCall) (errno int)

// launcherEnv is the environment variable that makes the test binary act as the launcher.
const launcherEnv = "CANDOR_IOFAULT"

// injector intercepts the file system calls of one process.
type injector struct {
	folder string // only calls on files in it count
	pid    int
	notes  int // the seccomp notification descriptor
	ended  chan struct{}
	stop   atomic.Bool

	mu    sync.Mutex
	plan  faultPlan // guarded by mu; nil lets all calls through
	count int       // guarded by mu; calls since arm
	hit   []ioCall
}

// startFaulty starts a command under an injector, which is armed with plan unless plan is nil. The test binary must call
// [asLauncher] first in TestMain. Only calls on files below folder are counted and can fail; the path of the folder must not
// contain symbolic links.
func startFaulty(cmd *exec.Cmd, folder string, plan faultPlan) (*injector, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "ours"), os.NewFile(uintptr(pair[1]), "theirs")
	defer ours.Close()   //nolint:errcheck // a socket
	defer theirs.Close() //nolint:errcheck // a socket
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if cmd.Env == nil {
		cmd.Env = os.Environ()
	}
	cmd.Env = append(cmd.Env, launcherEnv+"="+strconv.Itoa(3+len(cmd.ExtraFiles)))
	cmd.Args = append([]string{self, cmd.Path}, cmd.Args[1:]...)
	cmd.Path = self
	cmd.ExtraFiles = append(cmd.ExtraFiles, theirs)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	notes, err := receiveNotes(ours, theirs)
	if err != nil {
		return nil, errors.Join(err, cmd.Process.Kill(), cmd.Wait())
	}
	in := &injector{folder: folder, pid: cmd.Process.Pid, notes: notes, ended: make(chan struct{}), plan: plan}
	go in.serve()
	return in, nil
}

// receiveNotes waits for the descriptor from the launcher.
func receiveNotes(ours, theirs *os.File) (int, error) {
	_ = theirs.Close() // so that the exit of the launcher ends the read
	conn, err := net.FileConn(ours)
	if err != nil {
		return 0, err
	}
	defer conn.Close() //nolint:errcheck // a socket
	space := make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := conn.(*net.UnixConn).ReadMsgUnix(make([]byte, 1), space) //nolint:errcheck,forcetypeassert // Socketpair returned a Unix socket
	if err != nil {
		return 0, err
	}
	messages, err := unix.ParseSocketControlMessage(space[:n])
	if err != nil || len(messages) == 0 {
		return 0, errors.Join(errors.New("the launcher could not install its filter"), err)
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil {
		return 0, err
	}
	return fds[0], nil
}

// arm passes every following call to plan, counted from 1.
func (in *injector) arm(plan faultPlan) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.plan, in.count, in.hit = plan, 0, nil
}

// disarm lets all calls through again. It returns the number of calls counted and the calls that failed.
func (in *injector) disarm() (count int, failed []ioCall) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.plan = nil
	return in.count, in.hit
}

// Close stops the injector. The process must have ended before; otherwise its calls block.
func (in *injector) Close() {
	in.stop.Store(true)
	<-in.ended
	_ = unix.Close(in.notes)
}

// notification is struct seccomp_notif, see seccomp_unotify(2).
type notification struct {
	ID    uint64
	PID   uint32
	Flags uint32
	Nr    int32
	Arch  uint32
	IP    uint64
	Args  [6]uint64
}

type notificationReply struct {
	ID    uint64
	Value int64
	Error int32
	Flags uint32
}

const (
	notifyReceive  = 0xc0502100
	notifySend     = 0xc0182101
	flagContinue   = 1
	pollTimeout    = 50 // milliseconds
	newListener    = 1 << 3
	setModeFilter  = 1
	returnNotify   = 0x7fc00000
	returnAllow    = 0x7fff0000
	maxPath        = 4096
	writeableFlags = syscall.O_WRONLY | syscall.O_RDWR
)

// serve answers every intercepted call until the process has ended.
func (in *injector) serve() {
	defer close(in.ended)
	for !in.stop.Load() {
		polled := []unix.PollFd{{Fd: int32(in.notes), Events: unix.POLLIN}}
		n, err := unix.Poll(polled, pollTimeout)
		if errors.Is(err, unix.EINTR) || err == nil && n == 0 {
			continue
		}
		if err != nil || polled[0].Revents&unix.POLLIN == 0 {
			return
		}
		in.answer()
	}
}

func (in *injector) answer() {
	var note notification
	if ioctl(in.notes, notifyReceive, unsafe.Pointer(&note)) != 0 {
		return // the caller was killed in the meantime
	}
	reply := notificationReply{ID: note.ID, Flags: flagContinue}
	if errno := in.decide(&note); errno != 0 {
		reply.Error, reply.Flags = -int32(errno), 0
	}
	_ = ioctl(in.notes, notifySend, unsafe.Pointer(&reply))
}

func ioctl(fd int, request uintptr, argument unsafe.Pointer) syscall.Errno {
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), request, uintptr(argument))
	return errno
}

// decide returns the errno for a call. It consults the plan if the call counts.
func (in *injector) decide(note *notification) int {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.plan == nil {
		return 0
	}
	about, ok := systemCalls[int(note.Nr)]
	if !ok {
		return 0
	}
	if _, err := os.Stat(fmt.Sprintf("/proc/%d/task/%d", in.pid, note.PID)); err != nil {
		return 0 // a child process of the program
	}
	call := about.read(note)
	if !strings.HasPrefix(call.Path, in.folder+"/") && call.Path != in.folder {
		return 0
	}
	in.count++
	call.Index = in.count
	errno := in.plan(call)
	if errno != 0 {
		in.hit = append(in.hit, call)
	}
	return errno
}

// systemCall describes one system call.
type systemCall struct {
	name    string
	at      int // index of the path argument, which follows that of its folder; -1 if the first argument is a file descriptor
	changes bool
	grows   bool
}

var systemCalls = map[int]systemCall{
	unix.SYS_OPENAT:     {name: "openat", at: 1},
	unix.SYS_READ:       {name: "read", at: -1},
	unix.SYS_PREAD64:    {name: "pread64", at: -1},
	unix.SYS_FSTAT:      {name: "fstat", at: -1},
	unix.SYS_NEWFSTATAT: {name: "newfstatat", at: 1},
	unix.SYS_GETDENTS64: {name: "getdents64", at: -1},
	unix.SYS_FLOCK:      {name: "flock", at: -1},
	unix.SYS_WRITE:      {name: "write", at: -1, changes: true, grows: true},
	unix.SYS_PWRITE64:   {name: "pwrite64", at: -1, changes: true, grows: true},
	unix.SYS_WRITEV:     {name: "writev", at: -1, changes: true, grows: true},
	unix.SYS_FSYNC:      {name: "fsync", at: -1, changes: true, grows: true},
	unix.SYS_FDATASYNC:  {name: "fdatasync", at: -1, changes: true, grows: true},
	unix.SYS_FALLOCATE:  {name: "fallocate", at: -1, changes: true, grows: true},
	unix.SYS_FTRUNCATE:  {name: "ftruncate", at: -1, changes: true},
	unix.SYS_FCHMOD:     {name: "fchmod", at: -1, changes: true},
	unix.SYS_FCHOWN:     {name: "fchown", at: -1, changes: true},
	unix.SYS_FCHMODAT:   {name: "fchmodat", at: 1, changes: true},
	unix.SYS_MKDIRAT:    {name: "mkdirat", at: 1, changes: true, grows: true},
	unix.SYS_UNLINKAT:   {name: "unlinkat", at: 1, changes: true},
	unix.SYS_RENAMEAT:   {name: "renameat", at: 1, changes: true, grows: true},
	unix.SYS_RENAMEAT2:  {name: "renameat2", at: 1, changes: true, grows: true},
	unix.SYS_LINKAT:     {name: "linkat", at: 1, changes: true, grows: true},
	unix.SYS_SYMLINKAT:  {name: "symlinkat", at: 2, changes: true, grows: true},
	unix.SYS_UTIMENSAT:  {name: "utimensat", at: 1, changes: true},
}

// read returns the ioCall for an intercepted system call.
func (k systemCall) read(note *notification) ioCall {
	c := ioCall{Name: k.name, Changes: k.changes, Grows: k.grows}
	if k.at < 0 {
		c.Path = descriptor(note.PID, int32(note.Args[0]))
		return c
	}
	name := textAt(note.PID, note.Args[k.at])
	if !filepath.IsAbs(name) {
		name = filepath.Join(descriptor(note.PID, int32(note.Args[k.at-1])), name)
	}
	c.Path = name
	if note.Nr == unix.SYS_OPENAT && note.Args[2]&syscall.O_CREAT != 0 {
		c.Name, c.Changes, c.Grows = "openat(O_CREAT)", true, true
	} else if note.Nr == unix.SYS_OPENAT && note.Args[2]&writeableFlags != 0 {
		c.Changes = true
	}
	return c
}

// descriptor returns the path of an open file of a thread.
func descriptor(thread uint32, fd int32) string {
	link := "cwd"
	if fd != unix.AT_FDCWD {
		link = "fd/" + strconv.Itoa(int(fd))
	}
	name, _ := os.Readlink(fmt.Sprintf("/proc/%d/%s", thread, link)) // "" is in no folder
	return strings.TrimSuffix(name, " (deleted)")
}

// textAt reads a string from the memory of a thread.
func textAt(thread uint32, at uint64) string {
	memory, err := os.Open(fmt.Sprintf("/proc/%d/mem", thread))
	if err != nil {
		return ""
	}
	defer memory.Close() //nolint:errcheck // opened for reading
	buffer := make([]byte, maxPath)
	n, _ := memory.ReadAt(buffer, int64(at))
	name, _, _ := bytes.Cut(buffer[:n], []byte{0})
	return string(name)
}
