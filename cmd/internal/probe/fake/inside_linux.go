package fake

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

// secluded are the attributes of a process in namespaces of its own: users (which allows the rest to anybody), network, mounts, and
// processes, whose end is the end of everything that was ever started in them. It keeps the user that it is, and gets what it needs
// in order to set the stage, not more.
func secluded() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		Cloneflags:   syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET | syscall.CLONE_NEWPID,
		Unshareflags: syscall.CLONE_NEWNS, // in this way, and not with the others, mounts of ours are kept from everybody else
		UidMappings:  []syscall.SysProcIDMap{{ContainerID: os.Geteuid(), HostID: os.Geteuid(), Size: 1}},
		GidMappings:  []syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}},
		AmbientCaps:  []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_NET_BIND_SERVICE, unix.CAP_NET_RAW, unix.CAP_SETPCAP},
		Pdeathsig:    syscall.SIGKILL,
		Setpgid:      true, // so that a signal for the group comes once, by way of the outer process
	}
}

// Available returns nil where an upstream can be started, and otherwise why not, with what to do about it.
//
// It tries: a process goes all the way into its namespaces, and ends because the program that it is to run does not exist.
func Available() error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	process, err := os.StartProcess("/proc/self/no-such-program", []string{""}, &os.ProcAttr{Sys: secluded()})
	if err == nil { // nobody can be there
		_, err = process.Wait()
		return err
	}
	if errors.Is(err, syscall.ENOENT) {
		return nil
	}
	return fmt.Errorf("the fake upstream needs user and network namespaces, which are not allowed here: %w (hint: %s)", err, allowing())
}

// allowing says what would allow namespaces on this machine.
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
	return "in a container, allow unshare and mount, as docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined does"
}

// linkFD is where the inner process finds the link.
const linkFD = 3

// within, as the first argument, marks the inner process.
const within = "--within"

// InsideMain is the hidden command probe-inside, of which [Upstream.Wrap] writes the arguments. It returns an error if the command could
// not be started where the upstream is. Otherwise it does not return: the process ends as the command does.
//
// It runs as two processes. The outer one passes signals on and waits. The inner one is the first process of the namespaces: it sets
// the stage, runs the command, and takes everything along when it ends. It ends with the command, with the outer one, and with the probe.
func InsideMain(args []string) error {
	inner := len(args) > 0 && args[0] == within
	rest := args
	if inner {
		rest = args[1:]
	}
	if len(rest) < 2 || rest[1] != "--" {
		return errors.New("probe-inside is for the probe's own use (hint: candor probe --fake-upstream -- COMMAND)")
	}
	runtime.LockOSThread() // a child dies with the thread that has started it
	if inner {
		return perform(place(rest[0]), rest[2:])
	}
	return seclude(place(rest[0]), args)
}

// seclude is the outer process.
func seclude(p place, args []string) error {
	conn, err := (&net.Dialer{}).DialContext(context.Background(), "unix", p.socket())
	if err != nil {
		return fmt.Errorf("reaching the probe: %w (hint: it has ended)", err)
	}
	channel, ok := conn.(*net.UnixConn)
	if !ok {
		return errors.New("reaching the probe: the socket is of another kind")
	}
	file, err := channel.File()
	if err != nil {
		return fmt.Errorf("passing the link on: %w", err)
	}
	line := append(append([]string{}, os.Args[1:len(os.Args)-len(args)]...), within)
	inner := exec.Command("/proc/self/exe", append(line, args...)...) //nolint:noctx // it ends with its command, or with us
	inner.Args[0] = os.Args[0]
	inner.Stdin, inner.Stdout, inner.Stderr = os.Stdin, os.Stdout, os.Stderr
	inner.ExtraFiles, inner.SysProcAttr = []*os.File{file}, secluded()
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, passedOn...)
	if err := inner.Start(); err != nil {
		return fmt.Errorf("entering namespaces: %w (hint: %s)", err, allowing())
	}
	_, _, _ = conn.Close(), file.Close(), letGo()
	go func() {
		for s := range signals {
			_ = inner.Process.Signal(s) // it may just have ended
		}
	}()
	err = inner.Wait()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return fmt.Errorf("waiting for the server: %w", err)
	}
	os.Exit(statusOf(inner.ProcessState.Sys()))
	return nil
}

// passedOn are the signals by which a server is asked to do something.
var passedOn = []os.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2}

// letGo closes the pipes that belong to the server, so that whoever reads them sees when the server closes them.
func letGo() error { return errors.Join(os.Stdin.Close(), os.Stdout.Close()) }

// statusOf is the exit status in the manner of shells: 128 and the number of a signal.
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

// perform is the inner process.
func perform(p place, command []string) error {
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
	go func() { gone <- s.obey(ctx, func() { close(ready) }) }()
	select {
	case <-ready:
	case err := <-gone:
		return fmt.Errorf("hearing from the probe: %w", err)
	}
	if len(command) == 0 {
		return nil // that was the trial
	}
	go func() {
		<-gone
		os.Exit(1) // the probe is gone, or the stage is broken: the server goes as well
	}()
	return s.run(command)
}

// set makes the namespace one in which everything leads to the upstream.
func (s *stage) set(ctx context.Context, p place) error {
	if err := raiseLoopback(); err != nil {
		return fmt.Errorf("raising loopback: %w (hint: %s)", err, allowing())
	}
	if err := furnish(p); err != nil {
		return fmt.Errorf("preparing the files of the namespace: %w (hint: %s)", err, allowing())
	}
	six, err := (&net.ListenConfig{}).Listen(ctx, "tcp6", "[::1]:0")
	if err == nil {
		_ = six.Close()
	}
	if s.refused, err = watchRefusals(s.saw, six != nil); err != nil {
		return fmt.Errorf("watching for refused connections: %w", err)
	}
	return (&resolver{saw: s.saw, six: six != nil}).serve(ctx)
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

// exits are sockets in the file system, which lead out of any network namespace: to somebody who looks names up, or who would start
// something outside.
var exits = []string{
	"/run/nscd/socket", "/run/systemd/resolve/io.systemd.Resolve", "/run/systemd/resolve/io.systemd.Resolve.Monitor", "/run/avahi-daemon/socket",
	"/run/dbus/system_bus_socket", "/run/docker.sock", "/run/containerd/containerd.sock", "/run/podman/podman.sock", "/run/snapd.socket",
}

// furnish puts files of ours before those by which names are looked up, and hides what leads out.
func furnish(p place) error {
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
	// The server must not talk to the probe, nor, where a new /proc is allowed, see whoever else runs here.
	_ = unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")
	if err := unix.Mount("none", p.control(), "tmpfs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "size=4k,mode=0"); err != nil {
		return fmt.Errorf("hiding the probe: %w", err)
	}
	return nil
}

// cover mounts a file over another. One that does not exist needs no cover: without it, programs ask 127.0.0.1 and files alone.
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

// run starts the command without any of our powers, and ends as it ends.
func (s *stage) run(command []string) error {
	path, err := exec.LookPath(command[0])
	if err != nil {
		return fmt.Errorf("starting the server: %w", err)
	}
	if err := renounce(); err != nil {
		return fmt.Errorf("giving up powers before the server starts: %w", err)
	}
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, passedOn...)
	server, err := os.StartProcess(path, command, &os.ProcAttr{Env: os.Environ(), Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}, Sys: &syscall.SysProcAttr{Setpgid: true}})
	if err != nil {
		return fmt.Errorf("starting the server: %w", err)
	}
	_ = letGo()
	go func() {
		for asked := range signals {
			if number, ok := asked.(syscall.Signal); ok {
				_ = syscall.Kill(-server.Pid, number)
			}
		}
	}()
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil) // the first process of a namespace is heir to every orphan
		if pid == server.Pid {
			s.refused.settle() // what it tried last
			os.Exit(statusOf(status))
		}
		if err != nil && !errors.Is(err, syscall.EINTR) {
			return fmt.Errorf("waiting for the server: %w", err)
		}
	}
}

// renounce leaves this thread, and the server that is started from it, without powers over the namespace: it cannot uncover what is covered.
func renounce() error {
	for power := uintptr(0); power <= unix.CAP_LAST_CAP; power++ {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, power, 0, 0, 0); err != nil && !errors.Is(err, unix.EINVAL) { // unknown to an older kernel
			return err
		}
	}
	none := [2]unix.CapUserData{} // what a thread hands down to a program of root is not bound by the above; with it goes what is ambient
	if err := unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &none[0]); err != nil {
		return err
	}
	return unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
}
