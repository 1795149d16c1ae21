package guard

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// A job object holds the command and all processes that it starts. The system kills them when the last handle of the job is closed,
// so also when this process ends in any way. No guard is needed.

const works = false

// Limitable reports whether [Limits] are enforced on this system. Windows enforces only the limit on memory.
const Limitable = false

// job is a job object. The zero job holds no processes.
type job struct{ handle windows.Handle }

// attributes returns attributes that start a process suspended, so that it cannot start others before it is in the job, and in a
// new process group, so that it gets no Ctrl-C for the console of this process.
func attributes(bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_SUSPENDED | windows.CREATE_NEW_PROCESS_GROUP}
}

// start starts the command inside a new job.
func (p *Process) start(o Options) error {
	made, err := newJob(o.Limits)
	if err != nil {
		return err
	}
	if err := p.cmd.Start(); err != nil {
		return errors.Join(err, windows.CloseHandle(made.handle))
	}
	if err = made.add(p.cmd.Process); err == nil {
		err = resume(uint32(p.cmd.Process.Pid)) //nolint:gosec // process ids have 32 bits
	}
	if err != nil { // it has not run
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
		return errors.Join(err, windows.CloseHandle(made.handle))
	}
	p.job = made
	return nil
}

// newJob creates a job that kills its processes with its last handle.
func newJob(l Limits) (job, error) {
	handle, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return job{}, fmt.Errorf("creating a job: %w", err)
	}
	var info windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	if l.Data > 0 {
		info.BasicLimitInformation.LimitFlags |= windows.JOB_OBJECT_LIMIT_PROCESS_MEMORY
		info.ProcessMemoryLimit = uintptr(l.Data)
	}
	_, err = windows.SetInformationJobObject(handle, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info))) //nolint:gosec // the system takes its address
	if err != nil {
		return job{}, errors.Join(fmt.Errorf("setting the limits of a job: %w", err), windows.CloseHandle(handle))
	}
	return job{handle}, nil
}

// add puts a process into the job.
func (j job) add(p *os.Process) error {
	var failed error
	err := p.WithHandle(func(handle uintptr) { failed = windows.AssignProcessToJobObject(j.handle, windows.Handle(handle)) })
	if err = errors.Join(err, failed); err != nil {
		return fmt.Errorf("adding the command to a job: %w", err)
	}
	return nil
}

// resume lets a process run that was started suspended. Package os keeps no handle of its only thread, so it is searched.
func resume(pid uint32) (err error) {
	threads, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPTHREAD, 0)
	if err != nil {
		return fmt.Errorf("listing threads: %w", err)
	}
	defer func() { err = errors.Join(err, windows.CloseHandle(threads)) }()
	entry := windows.ThreadEntry32{Size: uint32(unsafe.Sizeof(windows.ThreadEntry32{}))}
	for err = windows.Thread32First(threads, &entry); err == nil; err = windows.Thread32Next(threads, &entry) {
		if entry.OwnerProcessID == pid {
			return resumeThread(entry.ThreadID)
		}
	}
	return fmt.Errorf("finding the thread of the command: %w", err)
}

func resumeThread(id uint32) error {
	thread, err := windows.OpenThread(windows.THREAD_SUSPEND_RESUME, false, id)
	if err != nil {
		return fmt.Errorf("opening the thread of the command: %w", err)
	}
	_, err = windows.ResumeThread(thread)
	return errors.Join(err, windows.CloseHandle(thread))
}

// Ask sends CTRL_BREAK to the process group of the command. The system delivers it only if both share a console, and has nothing
// like it for programs without one: they end when their input is closed, or are killed.
func (p *Process) Ask() {
	_ = windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(p.cmd.Process.Pid)) //nolint:gosec // process ids have 32 bits
}

// force kills the command and all processes that it has started.
func (p *Process) force() {
	select {
	case <-p.done: // the handle is closed
	default:
		_ = windows.TerminateJobObject(p.job.handle, killedCode)
	}
}

// killedCode is the exit code of processes that Kill has ended, as that of [os.Process.Kill].
const killedCode = 1

// bury determines how the command ended, and kills the remaining processes.
func (p *Process) bury() {
	p.end = End{Code: p.cmd.ProcessState.ExitCode()}
	_ = windows.TerminateJobObject(p.job.handle, killedCode) // closing the handle would kill them too, but later
	for end := time.Now().Add(patience); p.job.active() > 0 && time.Now().Before(end); {
		time.Sleep(time.Millisecond) // a job reports its end only to a completion port
	}
	_ = windows.CloseHandle(p.job.handle)
}

// accounting is a JOBOBJECT_BASIC_ACCOUNTING_INFORMATION.
type accounting struct {
	totalUser, totalKernel, periodUser, periodKernel int64
	faults, total, active, terminated                uint32
}

// active returns the number of processes in the job, or 0 if it is not known.
func (j job) active() uint32 {
	var a accounting
	err := windows.QueryInformationJobObject(j.handle, windows.JobObjectBasicAccountingInformation,
		uintptr(unsafe.Pointer(&a)), uint32(unsafe.Sizeof(a)), nil) //nolint:gosec // the system takes its address
	if err != nil {
		return 0
	}
	return a.active
}

// Memory is not supported on this system and returns 0.
func (*Process) Memory() int64 { return 0 }

// Main starts nothing and returns 1: a job needs no guard.
func Main([]string) int { return 1 }

// Confinable reports that no part of a [Confinement] can be enforced on this system.
func Confinable() (files, calls bool) { return false, false }
