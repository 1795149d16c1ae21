// Package iofault makes chosen file system calls of a child process fail, for tests that a program reports correctly whatever its disk
// does. It works from outside: the program is the one that is shipped, and knows nothing of it.
//
// On Linux a small launcher installs a seccomp filter that hands every file system call to the parent, which lets it through or answers
// with an error. Calls are counted across all threads of the program, so that the n-th call is the n-th whichever thread makes it. close is
// left alone: an error of it would leave the file open, which no kernel does.
package iofault
