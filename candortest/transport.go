package candortest

import (
	"context"
	"errors"
	"net/http"
)

// ErrQuiet is what [Conn.Receive] returns when nothing is under way that could still bring a message. Over HTTP that is
// so once every request has been answered; a peer that may speak at any time is never quiet.
var ErrQuiet = errors.New("nothing is under way that could bring a message")

// Transport opens connections to the server under test. [Stdio], [HTTP] and [HTTPHandler] make one; others may be
// written.
type Transport interface {
	// Open returns a fresh connection on which nothing has been said. The kit opens one for every check, never two at
	// a time, and closes each.
	Open(ctx context.Context) (Conn, error)
}

// Conn is one connection as raw bytes. The kit uses it from one goroutine.
type Conn interface {
	// Send sends the bytes of one message as they are, right or wrong, and does not wait for an answer. The header is
	// what the protocol wants beside a message; a transport without headers ignores it.
	Send(ctx context.Context, message []byte, header http.Header) error
	// Receive returns the next thing the server said, waiting no longer than ctx. The error is that of ctx, [ErrQuiet],
	// or why the connection has ended, as a rule [io.EOF].
	Receive(ctx context.Context) (Frame, error)
	// Diagnostics returns what the server said beside the protocol, such as the end of its standard error; bounded.
	Diagnostics() string
	// Close ends the connection and whatever was started for it. It does not wait for a server that will not go.
	Close() error
}

// Frame is one thing a server said.
type Frame struct {
	// Data is one message, without its line end; empty if an HTTP answer had no body. The receiver owns it.
	Data []byte
	// Status and Type are the HTTP status and media type; 0 and "" elsewhere.
	Status int
	Type   string
	// TooLarge says that the message was longer than the kit reads, and Data holds only its beginning.
	TooLarge bool
}

// The most the kit holds of one connection: frames that nobody has looked at yet, and the bytes of each.
const (
	maxWaiting = 64
	maxFrame   = 1 << 20
)
