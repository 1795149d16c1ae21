// Package zoo is an MCP server with every defect that we know, each in a cage of its own: to try clients, gateways and probe on.
//
// One tool shows one defect and is honest otherwise; defects that belong to the protocol and to no tool change the server as a whole.
// Which of them there are is a matter of [Options]. It is written on bare bytes, because no library would send what it sends, and it
// is deterministic: whatever alternates is counted per session.
package zoo

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

// Options choose what a zoo shows. The zero value shows all of it.
type Options struct {
	// Personality is the name of one of [Personalities]. "" stands for "all", or for nothing but Defects if there are any.
	Personality string
	// Defects are the ids of defects that are shown besides those of the personality.
	Defects []string
	// Upstream is the address of the HTTP service behind the tools whose names begin with up-. Without it there are no such tools.
	Upstream string
	// Deadline is how long a client is thought to wait: what answers late answers after it. 0 means [DefaultDeadline].
	Deadline time.Duration
}

// DefaultDeadline is the time after which a late answer is late.
const DefaultDeadline = 5 * time.Second

// ErrCrash is what [Serve] returns when the server has died as a defect wanted it to. A program should end with a failure then.
var ErrCrash = errors.New("the zoo has died, as it was told to")

// Serve speaks MCP over lines until in ends, ctx is done, or a defect kills it, which is [ErrCrash].
func Serve(ctx context.Context, in io.Reader, out io.Writer, o Options) error {
	return errors.New("not built yet")
}

// Handler speaks MCP over streamable HTTP at any path, and over the older event stream at /sse.
func Handler(o Options) http.Handler {
	return http.NotFoundHandler()
}
