package iofault

// Call is a file system call that the program is about to make.
type Call struct {
	Index   int    // from 1, since [Injector.Arm]
	Name    string // as in its manual page
	Path    string // the file it is about, as far as that is known
	Changes bool   // it changes the disk, or makes a change durable
	Grows   bool   // it needs space
}

// Plan says which error a call gets: 0 lets it through. It is asked about one call at a time.
type Plan func(c Call) (errno int)
