// Package mcpclient is an MCP client for tests, audits and checks, over stdio, HTTP and the older SSE transport, in
// both protocol eras.
//
// A [Conn] transports raw bytes, valid or not, and limits the size of messages. A [Client] on top of it makes requests and gives
// each its answer. No MCP SDK is used, so that the client does not share the mistakes of the servers it talks to.
package mcpclient

import (
	"bytes"
	"context"

	"github.com/candor-mcp/candor/internal/framing"
	"github.com/candor-mcp/candor/internal/wireflaw"
)

// Conn is one connection to a server.
type Conn interface {
	// Send sends the bytes of one message unchanged, valid or not. Over HTTP it returns at the end of the response, and
	// the messages of the response have the tag; otherwise it returns when the message is written.
	Send(ctx context.Context, tag int, message []byte) error
	// Messages returns the messages of the server in order. The channel has no buffer, so that a server that floods has
	// to wait. It is closed at the end of the connection; over HTTP it is never closed.
	Messages() <-chan Message
	// Exchanges reports whether answers only come in the response to their request, as over HTTP.
	Exchanges() bool
	// Agree sets the protocol version for the headers of further messages.
	Agree(version string)
	// Close ends the connection, and a process that was started for it. If patient is set, the server gets time to end
	// by itself, and an HTTP session is ended.
	Close(patient bool)
}

// Message is one message of a server, or one HTTP response. The receiver owns its bytes.
type Message struct {
	Data []byte // without its line end; only the beginning of a message that is longer than the limit
	Tail []byte // the end of a line or event that is longer than the limit, else nil
	Cut  bool   // the message is longer than the limit
	Size int64  // the full size

	Tag        int    // of the Send over HTTP; 0 if unknown
	Body       bool   // an HTTP response body that is not an event stream, which belongs to its request in any case
	Status     int    // the HTTP status, else 0
	Type       string // the media type of the HTTP response
	RetryAfter string // the header of the HTTP response
}

// MaxBytes is the default limit for one message.
const MaxBytes = 16 << 20

// received returns a message from the parts of a line or event.
func received(data []byte, flaw wireflaw.Flaw, head, tail []byte, size int64) Message {
	if flaw != wireflaw.None {
		return Message{Data: bytes.Clone(head), Tail: append([]byte{}, tail...), Cut: true, Size: size}
	}
	return Message{Data: bytes.Clone(data), Size: size}
}

func ofLine(l framing.Line) Message { return received(l.Bytes, l.Flaw, l.Head, l.Tail, l.Size) }

func ofEvent(e framing.Event) Message {
	size := e.Size
	if e.Flaw == wireflaw.None {
		size = int64(len(e.Data))
	}
	return received(e.Data, e.Flaw, e.Head, e.Tail, size)
}
