package preflight

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

const limitsWork = true

// LimitedMain sets the limits that its arguments name and becomes the command that follows them, with its own environment:
// --data BYTES --fsize BYTES -- CMD ARGS, where CMD is a path. It returns only if that fails.
//
// The limit is on data (RLIMIT_DATA) and not on address space (RLIMIT_AS), which runtimes reserve far beyond what they use.
func LimitedMain(args []string) error {
	flags := flag.NewFlagSet("limited", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	data := flags.Uint64("data", 0, "")
	fsize := flags.Uint64("fsize", 0, "")
	if err := flags.Parse(args); err != nil {
		return fmt.Errorf("reading limits: %w", err)
	}
	if flags.NArg() == 0 {
		return errors.New("reading limits: no command follows them")
	}
	limits := []struct {
		which int
		most  uint64
		set   bool
	}{
		{syscall.RLIMIT_CORE, 0, true}, {syscall.RLIMIT_FSIZE, *fsize, *fsize > 0}, {syscall.RLIMIT_DATA, *data, *data > 0},
	}
	for _, l := range limits {
		if !l.set {
			continue
		}
		if err := syscall.Setrlimit(l.which, &syscall.Rlimit{Cur: l.most, Max: l.most}); err != nil {
			return fmt.Errorf("setting a limit: %w", err)
		}
	}
	if err := dieWithParent(); err != nil {
		return err
	}
	if err := syscall.Exec(flags.Arg(0), flags.Args(), os.Environ()); err != nil {
		return fmt.Errorf("starting the command: %w", err)
	}
	return nil
}

// dieWithParent ties the life of the thread that is about to become the command to the server's. The server has asked for this for the
// first thread of this process, and the kernel keeps it for each thread alone: what another thread becomes would outlive the server.
func dieWithParent() error {
	runtime.LockOSThread() // up to the end, which is the next thing to happen
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(syscall.SIGKILL), 0, 0, 0); err != nil {
		return fmt.Errorf("tying the command to the server: %w", err)
	}
	return nil
}
