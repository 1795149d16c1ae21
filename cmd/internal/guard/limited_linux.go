//go:build !portableguard

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
	"unsafe"

	"golang.org/x/sys/unix"
)

// become sets the limits in its arguments and executes the command that follows them: --data BYTES --maps BYTES --fsize
// BYTES --nofile FILES [--confine --read PATH… --run PATH… --write PATH… [--alone]] -- CMD ARGS, where CMD is a path.
// It returns only if that fails. The limits are not set in the guard, because they would apply to the guard too.
//
// The limit on memory is on data (RLIMIT_DATA). Runtimes reserve far more address space (RLIMIT_AS) than they use.
func become(args []string) error {
	flags := flag.NewFlagSet("limited", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	data := flags.Uint64(strings.TrimLeft(dataWord, "-"), 0, "")
	maps := flags.Uint64(strings.TrimLeft(mapsWord, "-"), 0, "")
	file := flags.Uint64(strings.TrimLeft(fileWord, "-"), 0, "")
	open := flags.Uint64(strings.TrimLeft(openWord, "-"), 0, "")
	confined := flags.Bool(strings.TrimLeft(confineWord, "-"), false, "")
	var files Confinement
	flags.Func(strings.TrimLeft(readWord, "-"), "", func(path string) error { files.Read = append(files.Read, path); return nil })
	flags.Func(strings.TrimLeft(runWord, "-"), "", func(path string) error { files.Run = append(files.Run, path); return nil })
	flags.Func(strings.TrimLeft(writeWord, "-"), "", func(path string) error { files.Write = append(files.Write, path); return nil })
	flags.BoolVar(&files.Alone, strings.TrimLeft(aloneWord, "-"), false, "")
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
	for which, most := range map[int]uint64{syscall.RLIMIT_FSIZE: *file, syscall.RLIMIT_NOFILE: *open} {
		if most == 0 {
			continue
		}
		if err := limit(which, most); err != nil {
			return err
		}
	}
	// The guard has set this for the first thread of this process, but the kernel keeps it per thread: a command executed by
	// another thread would survive a guard that is killed.
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(syscall.SIGKILL), 0, 0, 0); err != nil {
		return fmt.Errorf("tying the command to its guard: %w", err)
	}
	program, err := newImage(flags.Args(), environment)
	if err != nil {
		return fmt.Errorf("reading the command: %w", err)
	}
	memory := []struct {
		which uintptr
		most  syscall.Rlimit
	}{{syscall.RLIMIT_DATA, syscall.Rlimit{Cur: *data, Max: *data}}, {syscall.RLIMIT_AS, syscall.Rlimit{Cur: *maps, Max: *maps}}}
	limitMemory := func() error {
		for i := range memory {
			l := &memory[i]
			if l.most.Cur == 0 {
				continue
			}
			// A raw call, because the runtime may start a thread during other calls.
			if _, _, errno := syscall.RawSyscall6(unix.SYS_PRLIMIT64, 0, l.which, uintptr(unsafe.Pointer(&l.most)), 0, 0, 0); errno != 0 { //nolint:gosec // the kernel takes its address
				return fmt.Errorf("setting a limit: %w", errno)
			}
		}
		return nil
	}
	if *confined {
		if err := confine(files, program, limitMemory); err != nil {
			return fmt.Errorf("confining the command: %w", err)
		}
	} else if err := limitMemory(); err != nil {
		return err
	}
	return fmt.Errorf("starting %q: %w", flags.Arg(0), program.exec())
}

// image is a command in the form that execve needs.
//
// [syscall.Exec] copies the command line to the heap. The limit on data includes memory that the Go runtime has mapped, which may
// already exceed the limit. Once the limit is set the heap cannot grow, so everything is allocated before.
type image struct {
	path              *byte
	arguments, values []*byte
}

func newImage(command, environment []string) (i image, err error) {
	if i.path, err = syscall.BytePtrFromString(command[0]); err != nil {
		return image{}, err
	}
	if i.arguments, err = syscall.SlicePtrFromStrings(command); err != nil {
		return image{}, err
	}
	if i.values, err = syscall.SlicePtrFromStrings(environment); err != nil {
		return image{}, err
	}
	debug.SetGCPercent(-1)
	runtime.GOMAXPROCS(1) // no other thread runs from now on
	// The Go runtime has raised the soft limit on open files, and Exec restores it before it fails.
	_ = syscall.Exec("", nil, nil)
	return i, nil
}

// exec executes the command. It returns only if that fails, and does not allocate before.
func (i *image) exec() error {
	for range 100 {
		_, _, errno := syscall.RawSyscall(syscall.SYS_EXECVE, uintptr(unsafe.Pointer(i.path)), //nolint:gosec // the kernel takes their addresses
			uintptr(unsafe.Pointer(&i.arguments[0])), uintptr(unsafe.Pointer(&i.values[0]))) //nolint:gosec // the same
		if errno != syscall.EAGAIN { // possible while another thread is being started
			return errno
		}
	}
	return syscall.EAGAIN
}

func limit(which int, most uint64) error {
	if err := syscall.Setrlimit(which, &syscall.Rlimit{Cur: most, Max: most}); err != nil {
		return fmt.Errorf("setting a limit: %w", err)
	}
	return nil
}
