package line

import (
	"errors"
	"io"
	"sync"
)

// output writes lines, one at a time. A caller waits while another one writes, so a client that does not read stops
// the calls, and with them the reading of requests.
type output struct {
	w      io.Writer
	failed chan struct{} // closed when a write has failed

	mu  sync.Mutex
	err error
}

func newOutput(w io.Writer) *output { return &output{w: w, failed: make(chan struct{})} }

// write writes one line, which must end in LF. Lines for a failed stream are dropped.
func (o *output) write(line []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return
	}
	n, err := o.w.Write(line)
	if err == nil && n < len(line) {
		err = io.ErrShortWrite
	}
	if err != nil {
		o.err = err
		close(o.failed)
	}
}

// ended returns the error that ended the stream, if any.
func (o *output) ended() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

var errStuck = errors.New("the client does not read its responses")
