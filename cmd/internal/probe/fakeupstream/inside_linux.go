package fakeupstream

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// namespaceAttrs returns the attributes of a process in new user, network, mount and PID namespaces. The user namespace allows the others without
// privileges, and the end of the PID namespace ends all processes in it. The process keeps its user and gets only the capabilities that
// the setup needs.
func namespaceAttrs() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		Cloneflags:   syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET | syscall.CLONE_NEWPID,
		Unshareflags: syscall.CLONE_NEWNS, // separate from the others, so that our mounts are private
		UidMappings:  []syscall.SysProcIDMap{{ContainerID: os.Geteuid(), HostID: os.Geteuid(), Size: 1}},
		GidMappings:  []syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}},
		AmbientCaps:  []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_NET_BIND_SERVICE, unix.CAP_NET_RAW, unix.CAP_SETPCAP},
		Pdeathsig:    syscall.SIGKILL,
		Setpgid:      true, // so that a signal to the group arrives once, from the outer process
	}
}

// Available returns nil if an upstream can be started, and otherwise an error with the reason and a remedy.
//
// It starts a process in the namespaces whose program does not exist.
func Available() error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	process, err := os.StartProcess("/proc/self/no-such-program", []string{""}, &os.ProcAttr{Sys: namespaceAttrs()})
	if err == nil { // cannot happen
		_, err = process.Wait()
		return err
	}
	if errors.Is(err, syscall.ENOENT) {
		return nil
	}
	return fmt.Errorf("the fake upstream needs user and network namespaces, which are not allowed here: %w (hint: %s)", err, allowing())
}

// allowing returns how to allow namespaces on this machine.
func allowing() string {
	for _, setting := range []struct{ file, forbids, allow string }{
		{"/proc/sys/user/max_user_namespaces", "0", "sysctl -w user.max_user_namespaces=1000"},
		{"/proc/sys/kernel/unprivileged_userns_clone", "0", "sysctl -w kernel.unprivileged_userns_clone=1"},
		{"/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1", "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"},
	} {
		if value, err := os.ReadFile(setting.file); err == nil && strings.TrimSpace(string(value)) == setting.forbids {
			return "as root, " + setting.allow
		}
	}
	return "in a container, allow unshare and mount, for example with docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined"
}

// linkFD is the file descriptor of the link in the inner process.
const linkFD = 3

// within, as the first argument, marks the inner process.
const within = "--within"

// InsideMain is the hidden command probe-inside, with the arguments that [Upstream.Wrap] writes. It returns an error if the command cannot be
// started in the namespaces. Otherwise it does not return: the process exits with the status of the command.
//
// It runs as two processes. The outer one forwards signals and waits. The inner one is the first process of the namespaces: it sets them up,
// runs the command, and ends all other processes when it ends. It ends with the command, with the outer process, and with the probe.
func InsideMain(args []string) error {
	inner := len(args) > 0 && args[0] == within
	rest := args
	if inner {
		rest = args[1:]
	}
	if len(rest) < 2 || rest[1] != "--" {
		return errors.New("probe-inside is internal (hint: use candor probe --fake-upstream -- COMMAND)")
	}
	runtime.LockOSThread() // Pdeathsig is bound to the thread that starts the child
	if inner {
		return runInside(sharedDir(rest[0]), rest[2:])
	}
	return runOutside(sharedDir(rest[0]), args)
}

// runOutside is the outer process.
func runOutside(p sharedDir, args []string) error {
	conn, err := (&net.Dialer{}).DialContext(context.Background(), "unix", p.socket())
	if err != nil {
		return fmt.Errorf("connecting to the probe: %w (hint: the probe has ended)", err)
	}
	channel, ok := conn.(*net.UnixConn)
	if !ok {
		return errors.New("connecting to the probe: not a Unix socket")
	}
	file, err := channel.File()
	if err != nil {
		return fmt.Errorf("passing the link on: %w", err)
	}
	line := append(append([]string{}, os.Args[1:len(os.Args)-len(args)]...), within)
	inner := exec.Command("/proc/self/exe", append(line, args...)...) //nolint:noctx // it ends with its command, or with us
	inner.Args[0] = os.Args[0]
	inner.Stdin, inner.Stdout, inner.Stderr = os.Stdin, os.Stdout, os.Stderr
	inner.ExtraFiles, inner.SysProcAttr = []*os.File{file}, namespaceAttrs()
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, passedOn...)
	if err := inner.Start(); err != nil {
		return fmt.Errorf("entering namespaces: %w (hint: %s)", err, allowing())
	}
	_, _, _ = conn.Close(), file.Close(), closePipes()
	go func() {
		for s := range signals {
			_ = inner.Process.Signal(s) // it may have ended
		}
	}()
	err = inner.Wait()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return fmt.Errorf("waiting for the server: %w", err)
	}
	os.Exit(statusOf(inner.ProcessState.Sys()))
	return nil
}

// passedOn are the signals that are forwarded to the server.
var passedOn = []os.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2}

// closePipes closes our copies of the pipes of the server, so that their reader sees when the server closes them.
func closePipes() error { return errors.Join(os.Stdin.Close(), os.Stdout.Close()) }

// statusOf returns the exit status as shells do: 128 plus the number of the signal that ended the process.
func statusOf(state any) int {
	status, ok := state.(syscall.WaitStatus)
	switch {
	case !ok:
		return 1
	case status.Signaled():
		return 128 + int(status.Signal())
	}
	return status.ExitStatus()
}

// runInside is the inner process.
func runInside(p sharedDir, command []string) error {
	syscall.CloseOnExec(linkFD)
	file := os.NewFile(linkFD, "link")
	conn, err := net.FileConn(file)
	if err != nil {
		return fmt.Errorf("finding the link to the probe: %w", err)
	}
	_ = file.Close() // conn is a copy
	s := &stage{link: newLink(conn)}
	ctx := context.Background()
	if err := s.set(ctx, p); err != nil {
		return err
	}
	ready, gone := make(chan struct{}), make(chan error, 1)
	go func() { gone <- s.serveCommands(ctx, func() { close(ready) }) }()
	select {
	case <-ready:
	case err := <-gone:
		return fmt.Errorf("reading from the probe: %w", err)
	}
	if len(command) == 0 {
		return nil // only the trial of Start
	}
	go func() {
		<-gone
		os.Exit(1) // the probe has ended, or the upstream has failed: end the server as well
	}()
	return s.run(command)
}

// set prepares the namespace so that every name and address leads to the upstream.
func (s *stage) set(ctx context.Context, p sharedDir) error {
	if err := raiseLoopback(); err != nil {
		return fmt.Errorf("bringing up the loopback interface: %w (hint: %s)", err, allowing())
	}
	if err := mountFiles(p); err != nil {
		return fmt.Errorf("preparing the files of the namespace: %w (hint: %s)", err, allowing())
	}
	six, err := (&net.ListenConfig{}).Listen(ctx, "tcp6", "[::1]:0")
	if err == nil {
		_ = six.Close()
	}
	if s.refused, err = watchRefusals(s.report, six != nil); err != nil {
		return fmt.Errorf("watching for refused connections: %w", err)
	}
	return (&resolver{six: six != nil}).serve(ctx)
}

func raiseLoopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	lo.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo)
}

// exits are sockets in the file system, which can be reached from any network namespace: name services, and services that start processes.
var exits = []string{
	"/run/nscd/socket", "/run/systemd/resolve/io.systemd.Resolve", "/run/systemd/resolve/io.systemd.Resolve.Monitor", "/run/avahi-daemon/socket",
	"/run/dbus/system_bus_socket", "/run/docker.sock", "/run/containerd/containerd.sock", "/run/podman/podman.sock", "/run/snapd.socket",
}

// mountFiles replaces the files for name lookups and hides the sockets in exits.
func mountFiles(p sharedDir) error {
	for target, name := range map[string]string{"/etc/resolv.conf": "resolv.conf", "/etc/hosts": "hosts", "/etc/nsswitch.conf": "nsswitch.conf"} {
		if err := cover(p.file(name), target); err != nil {
			return err
		}
	}
	for _, exit := range exits {
		if err := cover(p.file("empty"), exit); err != nil {
			return err
		}
	}
	// The server must not reach the probe, nor see other processes if a new /proc can be mounted.
	_ = unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")
	if err := unix.Mount("none", p.control(), "tmpfs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "size=4k,mode=0"); err != nil {
		return fmt.Errorf("hiding the probe: %w", err)
	}
	return nil
}

// cover mounts a file over another. A missing target is fine: without it programs use only 127.0.0.1 and files.
func cover(source, target string) error {
	real, err := filepath.EvalSymlinks(target)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := unix.Mount(source, real, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("mounting over %s: %w", target, err)
	}
	return nil
}

// run runs the command without capabilities and exits with its status.
func (s *stage) run(command []string) error {
	path, err := exec.LookPath(command[0])
	if err != nil {
		return fmt.Errorf("starting the server: %w", err)
	}
	if err := dropCapabilities(); err != nil {
		return fmt.Errorf("dropping capabilities: %w", err)
	}
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, passedOn...)
	server, err := os.StartProcess(path, command, &os.ProcAttr{Env: os.Environ(), Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}, Sys: &syscall.SysProcAttr{Setpgid: true}})
	if err != nil {
		return fmt.Errorf("starting the server: %w", err)
	}
	_ = closePipes()
	go func() {
		for asked := range signals {
			if number, ok := asked.(syscall.Signal); ok {
				_ = syscall.Kill(-server.Pid, number)
			}
		}
	}()
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil) // the first process of a PID namespace also reaps orphans
		if pid == server.Pid {
			s.refused.settle() // count the last attempts
			os.Exit(statusOf(status))
		}
		if err != nil && !errors.Is(err, syscall.EINTR) {
			return fmt.Errorf("waiting for the server: %w", err)
		}
	}
}

// dropCapabilities drops the capabilities of this thread and of the server that it starts, which then cannot undo the mounts.
func dropCapabilities() error {
	for power := uintptr(0); power <= unix.CAP_LAST_CAP; power++ {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, power, 0, 0, 0); err != nil && !errors.Is(err, unix.EINVAL) { // unknown to an older kernel
			return err
		}
	}
	none := [2]unix.CapUserData{} // the bounding set does not limit inherited capabilities; this also clears the ambient ones
	if err := unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &none[0]); err != nil {
		return err
	}
	return unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
}
