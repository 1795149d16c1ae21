// Package iofault makes chosen file system calls of a child process fail, for tests that a program reports I/O errors
// correctly. It works from outside, on the unmodified program.
//
// On Linux a small launcher installs a seccomp filter that passes every file system call to the parent, which lets it
// through or returns an error. Calls are counted across all threads of the program, so the n-th call does not depend on the
// thread that makes it. close is not intercepted: an injected error would leave the file open, which the kernel never
// does.
package iofault
