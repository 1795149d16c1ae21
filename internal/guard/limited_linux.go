package guard

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// become sets the limits that its arguments name and becomes the command that follows them: --data BYTES --fsize BYTES [--confine
// --read PATH… --write PATH…] -- CMD ARGS, where CMD is a path. It returns only if that fails. The limits are not set in the guard, which would be bound by them as well.
//
// The limit is on data (RLIMIT_DATA) and not on address space (RLIMIT_AS), which runtimes reserve far beyond what they use.
func become(args []string) error {
	flags := flag.NewFlagSet("limited", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	data := flags.Uint64(strings.TrimLeft(dataWord, "-"), 0, "")
	file := flags.Uint64(strings.TrimLeft(fileWord, "-"), 0, "")
	confined := flags.Bool(strings.TrimLeft(confineWord, "-"), false, "")
	var files Confinement
	flags.Func(strings.TrimLeft(readWord, "-"), "", func(path string) error { files.Read = append(files.Read, path); return nil })
	flags.Func(strings.TrimLeft(writeWord, "-"), "", func(path string) error { files.Write = append(files.Write, path); return nil })
	if err := flags.Parse(args); err != nil {
		return fmt.Errorf("reading limits: %w", err)
	}
	if flags.NArg() == 0 {
		return errors.New("reading limits: no command follows them")
	}
	environment := os.Environ()
	if err := limit(syscall.RLIMIT_CORE, 0); err != nil {
		return err
	}
	if *file > 0 {
		if err := limit(syscall.RLIMIT_FSIZE, *file); err != nil {
			return err
		}
	}
	// The guard has asked for this for the first thread of this process, and the kernel keeps it for each thread alone: what another
	// thread becomes would outlive a guard that is killed.
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(syscall.SIGKILL), 0, 0, 0); err != nil {
		return fmt.Errorf("tying the command to its guard: %w", err)
	}
	limitData := func() error {
		if *data == 0 {
			return nil
		}
		if err := reserve(flags.Args(), environment); err != nil {
			return err
		}
		return limit(syscall.RLIMIT_DATA, *data)
	}
	if *confined {
		if err := confine(files, limitData); err != nil {
			return fmt.Errorf("confining the command: %w", err)
		}
	} else if err := limitData(); err != nil {
		return err
	}
	if err := syscall.Exec(flags.Arg(0), flags.Args(), environment); err != nil {
		return fmt.Errorf("starting %q: %w", flags.Arg(0), err)
	}
	return nil
}

func limit(which int, most uint64) error {
	if err := syscall.Setrlimit(which, &syscall.Rlimit{Cur: most, Max: most}); err != nil {
		return fmt.Errorf("setting a limit: %w", err)
	}
	return nil
}

// reserve makes space for the copies of a command line and an environment that [syscall.Exec] makes. The limit on data counts what the Go
// runtime has mapped, which alone may be more than the limit: once it is set, the heap cannot grow, and a process that needs it to dies.
func reserve(command, environment []string) error {
	debug.SetGCPercent(-1) // a collection behind the limit would need memory, too
	for range 2 {
		for _, list := range [][]string{command[:1], command, environment} {
			if _, err := syscall.SlicePtrFromStrings(list); err != nil {
				return fmt.Errorf("reading the command: %w", err)
			}
		}
	}
	runtime.GC() // leaves the memory of the copies free and mapped
	return nil
}
