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
