// Package guard runs commands and kills all processes they have started when they, or this process, end.
//
// The kernel can kill a process when its parent ends, but not all its descendants. So on Linux a guard runs between
// this process and the command. The guard is a small process that runs this program with a hidden command. It adopts
// every descendant that loses its parent, even one that has left the process group or the session. When the command
// ends, on request, or when this process ends in any way, the guard kills them all, and exits.
//
// A command that runs as the same user can kill its guard. The command and its process group are then killed too.
// Processes that have left the group before survive.
//
// Windows has job objects, which no process can leave and which the system kills when this process ends: there is no
// guard. Other Unix systems have a guard that kills the process group of the command; processes that have left the
// group survive. Only Linux enforces [Confinement] and all [Limits].
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

// Options configures how a command is run. The zero value uses no guard.
type Options struct {
	// Self is the command line that runs [Main], without its arguments. If it is empty there is no guard and there are no limits:
	// on Linux the command is then killed when this process ends, and its process group when the command ends; on other Unix
	// systems only its process group, when the command ends. Windows needs no guard and ignores Self.
	Self []string

	Limits Limits

	// Confine, if not nil, removes rights from the command and all processes that it starts, as far as [Confinable]
	// reports support.
	Confine *Confinement

	// Hold lists files that the guard keeps open until all processes have ended, so that a lock on one of them is not
	// released earlier, even if this process is killed. The command does not inherit them.
	Hold []*os.File
}

// Limits are the limits for each process of a command; zero means no limit. If any is set, core files are disabled.
type Limits struct {
	Data int64 // bytes of private memory
	Maps int64 // bytes of address space, which bounds what files that were removed hold while they are mapped
	File int64 // bytes of a file that it writes
	Open int64 // open files
}

// Confinement lists the files that a confined command can use. All others cannot be opened, executed, created or
// removed. A confined command cannot open sockets, start processes, signal or inspect other processes, raise its
// limits, or change the mode or owner of files. Confinement requires no privileges and cannot be undone.
type Confinement struct {
	Read  []string // files and directories that it can read; those that do not exist are skipped
	Run   []string // files and directories that it can read and execute, such as the command and its dynamic loader
	Write []string // directories below which it can read, create, write and remove files
	Alone bool     // it cannot execute another program, not even by way of the dynamic loader
}

// End describes how a command ended. The zero value is a success.
type End struct {
	Code   int            // the exit code, or 128 plus the number of the signal; 127 if the guard could not start the command
	Signal syscall.Signal // the signal that ended it, or 0
}

// String formats it like [os.ProcessState].
func (e End) String() string {
	if e.Signal != 0 {
		return "signal: " + e.Signal.String()
	}
	return "exit status " + strconv.Itoa(e.Code)
}

// Process is a started command. Its methods are safe for concurrent use.
type Process struct {
	cmd  *exec.Cmd
	line *line // to the guard; nil without one
	job  job   //nolint:unused // holds all processes of the command, on systems that have such an object
	done chan struct{}
	end  End // valid after done is closed

	kill sync.Once
}

// line holds this process's ends of the pipes to a guard.
type line struct {
	orders  *os.File // closing it makes the guard kill all processes
	reports *os.File // report of the guard, see [watchman.tell]
}

func (l *line) close() { _, _ = l.orders.Close(), l.reports.Close() }

// The files that a guard inherits after the three standard streams; the files to hold follow them.
const (
	ordersFD = 3 // closed when this process ends or wants all processes killed
	reportFD = 4
	holdFD   = 5
)

// Options of the command line of a guard.
const (
	holdWord    = "--hold"    // number of files
	limitedWord = "--limited" // not a guard: sets the limits and executes the command
	dataWord    = "--data"
	mapsWord    = "--maps"
	fileWord    = "--fsize"
	openWord    = "--nofile"
	confineWord = "--confine"
	readWord    = "--read"
	runWord     = "--run"
	writeWord   = "--write"
	aloneWord   = "--alone"
	endWord     = "--"
)

// patience is how long a guard may take to kill all processes. It takes milliseconds, unless a process is blocked in the kernel.
const patience = 5 * time.Second

// Start starts cmd. The caller sets its path, arguments, directory, environment and streams, each of which is nil or a
// file; Start sets everything else. The caller uses the Process and must not wait for cmd.
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
		defer func() { _, _ = cmd.ExtraFiles[0].Close(), cmd.ExtraFiles[1].Close() }() // the guard has copies
	}
	cmd.SysProcAttr = attributes(guarded)
	started := make(chan error)
	go p.live(started, o)
	if err := <-started; err != nil {
		if guarded {
			p.line.close()
		}
		return nil, err
	}
	return p, nil
}

// enlist changes the command line to run the command under a guard.
func (p *Process) enlist(o Options) error {
	orders, order, err := os.Pipe()
	if err != nil {
		return err
	}
	reports, report, err := os.Pipe()
	if err != nil {
		_, _ = orders.Close(), order.Close()
		return err
	}
	p.line = &line{orders: order, reports: reports}
	args := append([]string{}, o.Self...)
	args = append(args, holdWord, strconv.Itoa(len(o.Hold)), endWord)
	args = append(args, o.restrictions()...)
	p.cmd.Path, p.cmd.Args = o.Self[0], append(append(args, p.cmd.Path), p.cmd.Args[1:]...)
	p.cmd.ExtraFiles = append([]*os.File{orders, report}, o.Hold...)
	return nil
}

// restrictions returns the arguments that set the limits and the confinement, or nil.
func (o Options) restrictions() []string {
	if !Limitable || o.Limits == (Limits{}) && o.Confine == nil {
		return nil
	}
	args := append([]string{}, o.Self...)
	args = append(args, limitedWord, dataWord, strconv.FormatInt(o.Limits.Data, 10), mapsWord, strconv.FormatInt(o.Limits.Maps, 10), fileWord, strconv.FormatInt(o.Limits.File, 10),
		openWord, strconv.FormatInt(o.Limits.Open, 10))
	if c := o.Confine; c != nil {
		args = append(args, confineWord)
		for _, path := range c.Read {
			args = append(args, readWord, path)
		}
		for _, path := range c.Run {
			args = append(args, runWord, path)
		}
		for _, path := range c.Write {
			args = append(args, writeWord, path)
		}
		if c.Alone {
			args = append(args, aloneWord)
		}
	}
	return append(args, endWord)
}

// live starts the process and waits for its end on the same thread, because the kernel treats the end of the thread
// that started a child as the end of its parent.
func (p *Process) live(started chan<- error, o Options) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := p.start(o)
	started <- err
	if err != nil {
		return
	}
	_ = p.cmd.Wait() // the state has more detail
	p.bury()
	close(p.done)
}

// Done returns a channel that is closed when the command and all processes that it has started have ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// End waits until the command has ended, and returns how it ended.
func (p *Process) End() End {
	<-p.done
	return p.end
}

// Kill kills the command and all processes that it has started. It does not wait for them: see [Process.Done].
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
