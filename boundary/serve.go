package boundary

import (
	"context"
	"errors"
	"io"
	"os"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Serve puts a boundary around a server and runs it on standard input and output until the client closes its end or ctx is done.
// Both are a clean end, for which it returns nil: at the end of the input the calls that are open are answered first, for up to
// half a minute; when ctx is done they are called off and answered as CANCELLED. A call whose handler has not returned after 5 seconds more
// is answered as UNAVAILABLE. Serve returns an error if reading fails, or if a handler that ignores its context had to be left behind.
//
// While it runs os.Stdout is os.Stderr, so that a handler that prints does not write into the protocol. What a C library or a
// child process writes to file descriptor 1 is not caught.
func Serve(ctx context.Context, server *mcp.Server, o Options) error {
	b := Install(server, o)
	in, out := os.Stdin, newStandardOutput()
	os.Stdout = os.Stderr
	defer func() { os.Stdout = out.File }()
	return b.serve(ctx, server, in, out)
}

var errLeftBehind = errors.New("a handler was still running when the session had ended; it was left behind")

func (b *Boundary) serve(ctx context.Context, server *mcp.Server, r io.ReadCloser, w io.WriteCloser) error {
	over := make(chan struct{})
	ran := make(chan error, 1)
	t := &streamTransport{b: b, r: r, w: w, stop: ctx.Done(), over: over}
	// The SDK answers nobody once its context is done; the transport ends the session instead.
	go func() { ran <- server.Run(context.WithoutCancel(ctx), t) }()
	select {
	case err := <-ran:
		return err
	case <-over:
	}
	select {
	case err := <-ran:
		return err
	case <-time.After(leaveTime):
		return errLeftBehind
	}
}

// leaveTime is how long handlers may take to notice that the session has ended.
const leaveTime = time.Second
