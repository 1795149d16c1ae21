// Package iofault makes chosen file system calls of a child process fail, for tests that a program reports I/O errors
// correctly. It works from outside, on the unmodified program.
//
// On Linux a small launcher installs a seccomp filter that passes every file system call to the parent, which lets it
// through or returns an error. Calls are counted across all threads of the program, so the n-th call does not depend on the
// thread that makes it. close is not intercepted: an injected error would leave the file open, which the kernel never
// does.
package iofault

// Call is a file system call that the program is about to make.
type Call struct {
	Index   int    // from 1, since [Injector.Arm]
	Name    string // as in its manual page
	Path    string // the file it operates on, if known
	Changes bool   // it changes the disk, or makes a change durable
	Grows   bool   // it needs space
}

// Plan returns the errno with which a call fails, or 0 to let it through. Plan is not called concurrently.
type Plan func(c Call) (errno int)
