package drive

import "time"

// What is taken for granted unless [Options] say otherwise.
const (
	defaultDeadline = 10 * time.Second
	defaultQuiet    = 1500 * time.Millisecond
	defaultStartup  = 60 * time.Second
	defaultRestarts = 50
)

// The bounds of a hostile server.
const (
	maxMessage  = 16 << 20 // of one line, event or body
	maxPages    = 100      // of tools/list
	maxTools    = 2000
	maxObliged  = 200 // requests of the server that are answered, in one connection
	maxHangs    = 3   // of one tool; the rest of its cases would say the same, slowly
	maxTries    = 5   // to reach a server over the network again
	pingWait    = 5 * time.Second
	postWait    = 30 * time.Second       // for the answer of a POST that says only that it has come
	streamEnds  = 200 * time.Millisecond // after the answer that it is for
	triesApart  = 400 * time.Millisecond
	cancelAfter = 100 * time.Millisecond // a call must have arrived before it is called off
	onItsWay    = 250 * time.Millisecond // what comes so soon after a call was called off had been sent before
	longCall    = 600 * time.Millisecond // a call that is called off must take so long that its answer cannot be on its way
	surelyLong  = 3 * longCall           // what is not measured often enough must take so long that no busy machine explains it
	measures    = 3
	longWait    = 5 * time.Second // for the answer of a call that was called off
)

// The bounds of what is kept of a case.
const (
	keptResponse  = 1 << 20
	keptText      = 64 << 10 // of each text in an answer that is longer than that
	keptRequest   = 64 << 10
	keptStderr    = 4 << 10
	keptNoise     = 20  // lines
	keptNoiseLine = 512 // bytes of each
)

// The rhythm in which a run is saved.
const (
	saveEvery = 20
	saveAfter = 2 * time.Second
)

func (o *Options) fill() {
	if o.Deadline <= 0 {
		o.Deadline = defaultDeadline
	}
	if o.Quiet <= 0 {
		o.Quiet = defaultQuiet
	}
	if o.Startup <= 0 {
		o.Startup = defaultStartup
	}
	if o.MaxRestarts <= 0 {
		o.MaxRestarts = defaultRestarts
	}
}
