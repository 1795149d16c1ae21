package candortest

import (
	"context"
	"errors"
	"net/http"
)

// ErrQuiet is returned by [Conn.Receive] when no further message can arrive. Over HTTP that is the case
// once every request has been answered; a peer that may send at any time is never quiet.
var ErrQuiet = errors.New("no open request or stream that could bring a message")

// Transport opens connections to the server under test. [Stdio], [HTTP] and [HTTPHandler] return one; callers may
// implement others.
type Transport interface {
	// Open returns a new connection on which nothing has been sent. The kit opens one for every check, never two at
	// a time, and closes each.
	Open(ctx context.Context) (Conn, error)
}

// Conn is one connection as raw bytes. The kit uses it from one goroutine.
type Conn interface {
	// Send sends the bytes of one message unchanged, valid or not, and does not wait for an answer. header has the headers
	// that the protocol requires with a message; a transport without headers ignores it.
	Send(ctx context.Context, message []byte, header http.Header) error
	// Receive returns the next frame from the server, waiting until ctx ends. The error is that of ctx, [ErrQuiet],
	// or the reason why the connection has ended, usually [io.EOF].
	Receive(ctx context.Context) (Frame, error)
	// Diagnostics returns the server's output outside the protocol, such as the end of its standard error; bounded.
	Diagnostics() string
	// Close ends the connection and any process or server that was started for it. It does not wait for a server that does not exit.
	Close() error
}

// Frame is one message or HTTP response from a server.
type Frame struct {
	// Data is one message, without its line end; empty if an HTTP response had no body. The receiver owns it.
	Data []byte
	// Status and Type are the HTTP status and media type; 0 and "" for other transports.
	Status int
	Type   string
	// TooLarge reports that the message was longer than the kit reads, and Data holds only its beginning.
	TooLarge bool
}

// Limits for one connection: the number of frames that were not received yet, and the bytes of each.
const (
	maxWaiting = 64
	maxFrame   = 1 << 20
)
