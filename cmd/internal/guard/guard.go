// Package guard runs commands and kills everything they have started when they, or this process, end.
//
// The kernel can kill a process when its parent ends, but not all its descendants. So on Linux a guard runs between
// this process and the command: a small process, our program under a hidden command. It adopts every descendant that
// loses its parent, even one that has left the process group or the session. When the command ends, on request, or
// when this process ends in any way, the guard kills them all, and exits.
//
// A command that runs as the same user can kill its guard. It is killed with it, and so is its process group.
// Processes that have left the group before are killed only if this process has called [AdoptOrphans]. They survive if
// the command kills both its guard and this process before either can act.
package guard

import (
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// Options say how a command is kept. The zero value is without a guard.
type Options struct {
	// Self is the command line that runs [Main], without its arguments. If it is empty, and outside of Linux, there is
	// no guard and there are no limits: on Linux the command is then killed with this process and its process group
	// with the command; elsewhere only the command is killed.
	Self []string

	Limits Limits

	// Confine, if not nil, takes rights from the command and from all that it starts, as far as [Confinable] says that it can.
	Confine *Confinement

	// Hold are files that the guard holds open until all is over, so that a lock on one of them is not free any sooner,
	// even if we are killed. The command does not get them.
	Hold []*os.File
}

// Limits are the limits of each process of a command, in bytes; zero is unlimited. If any is set, there are no core
// files.
type Limits struct {
	Data int64 // memory of its own
	File int64 // the size of a file that it writes
}

// Confinement lists the files that a confined command can use. All others cannot be opened, run, created or removed. A confined command
// can neither open sockets nor start processes, signal or inspect other processes, raise its limits, or change the mode or owner of files.
// Nothing of it needs a privilege, and nothing can give the rights back.
type Confinement struct {
	Read  []string // files and folders that it can read and run; those that do not exist are skipped
	Write []string // folders below which it can read, create, write and remove files
}

// End is how a command ended. The zero value is a success.
type End struct {
	Code   int            // the exit code, or 128 and the number of the signal; 127 if it could not be started by its guard
	Signal syscall.Signal // that ended it, or 0
}

// String says it as [os.ProcessState] does.
func (e End) String() string {
	if e.Signal != 0 {
		return "signal: " + e.Signal.String()
	}
	return "exit status " + strconv.Itoa(e.Code)
}

// Process is a command that was started. Its methods may be called at any time, side by side.
type Process struct {
	cmd  *exec.Cmd
	line *line // to the guard; nil without one
	done chan struct{}
	end  End // read it after done

	kill sync.Once
}

// line is our end of the line to a guard.
type line struct {
	orders *os.File // its end is the order to kill everything
	told   *os.File // report of the guard, see [tell]
}

func (l *line) close() { _, _ = l.orders.Close(), l.told.Close() }

// The files that a guard inherits after the command's three; those to hold follow them.
const (
	ordersFD = 3 // ends when we do, or when we want everything killed
	reportFD = 4
	holdFD   = 5
)

// Options of the command line of a guard.
const (
	holdWord    = "--hold"    // how many files
	limitedWord = "--limited" // not a guard: applies the limits and becomes the command
	dataWord    = "--data"
	fileWord    = "--fsize"
	confineWord = "--confine"
	readWord    = "--read"
	writeWord   = "--write"
	endWord     = "--"
)

// patience is how long a guard has to kill everything. It takes milliseconds, unless a process is blocked in the
// kernel.
const patience = 5 * time.Second

// Start starts cmd, which has the path, the arguments, the directory, the environment, and the streams, each nil or a
// file. All else is set here. The caller uses the Process and must not wait for cmd.
func Start(cmd *exec.Cmd, o Options) (*Process, error) {
	if cmd.Err != nil {
		return nil, cmd.Err
	}
	p := &Process{cmd: cmd, done: make(chan struct{})}
	guarded := works && len(o.Self) > 0
	if guarded {
		if err := p.enlist(o); err != nil {
			return nil, err
		}
		defer func() { _, _ = cmd.ExtraFiles[0].Close(), cmd.ExtraFiles[1].Close() }() // the guard has its own copies
	}
	cmd.SysProcAttr = attributes(guarded)
	started := make(chan error)
	go p.live(started)
	if err := <-started; err != nil {
		if guarded {
			p.line.close()
		}
		return nil, err
	}
	return p, nil
}

// enlist puts a guard before the command.
func (p *Process) enlist(o Options) error {
	orders, order, err := os.Pipe()
	if err != nil {
		return err
	}
	told, tell, err := os.Pipe()
	if err != nil {
		_, _ = orders.Close(), order.Close()
		return err
	}
	p.line = &line{orders: order, told: told}
	args := append([]string{}, o.Self...)
	args = append(args, holdWord, strconv.Itoa(len(o.Hold)), endWord)
	args = append(args, o.restrictions()...)
	p.cmd.Path, p.cmd.Args = o.Self[0], append(append(args, p.cmd.Path), p.cmd.Args[1:]...)
	p.cmd.ExtraFiles = append([]*os.File{orders, tell}, o.Hold...)
	return nil
}

// restrictions is the command line that sets the limits and the confinement, if there are any.
func (o Options) restrictions() []string {
	if o.Limits == (Limits{}) && o.Confine == nil {
		return nil
	}
	args := append([]string{}, o.Self...)
	args = append(args, limitedWord, dataWord, strconv.FormatInt(o.Limits.Data, 10), fileWord, strconv.FormatInt(o.Limits.File, 10))
	if c := o.Confine; c != nil {
		args = append(args, confineWord)
		for _, path := range c.Read {
			args = append(args, readWord, path)
		}
		for _, path := range c.Write {
			args = append(args, writeWord, path)
		}
	}
	return append(args, endWord)
}

// live starts the process and waits for its end, all on one thread: the kernel takes the death of the thread that started a child for
// the death of its parent.
func (p *Process) live(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := own.start(p.cmd)
	started <- err
	if err != nil {
		return
	}
	_ = p.cmd.Wait() // the state says more
	own.ended(p.cmd.Process.Pid)
	p.bury()
	close(p.done)
}

// Done is closed when the command and all that it has started have ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// End returns how the command ended, and waits until it has.
func (p *Process) End() End {
	<-p.done
	return p.end
}

// Kill ends the command and all that it has started. It does not wait for it: see [Process.Done].
func (p *Process) Kill() {
	p.kill.Do(func() {
		if p.line == nil {
			p.force()
			return
		}
		_ = p.line.orders.Close()
		clock := time.AfterFunc(patience, p.force)
		go func() {
			<-p.done
			clock.Stop()
		}()
	})
}
