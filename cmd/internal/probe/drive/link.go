package drive

import "context"

// link is a connection to a running server. It moves messages and knows none.
type link interface {
	// send hands a message over. Over HTTP it returns when all has arrived that came for it. The turn tells arrivals apart there.
	send(ctx context.Context, turn int, message []byte) error
	// arrivals is what the server sends, in order. It is closed when the connection is over.
	arrivals() <-chan arrival
	// exchanges reports that an answer comes while its request is being sent, or not at all.
	exchanges() bool
	// agreed is told the version of the protocol once it is known.
	agreed(version string)
	// stderr returns what the server has printed since the last call, without secrets, and then cut.
	stderr(m *mask) string
	// epitaph returns how the server ended. It may wait a little, because the end of a process is told late.
	epitaph() string
	// close ends the connection, and with it the server if it was started for it. It returns when both are gone. A patient end lets
	// a server tidy up; one that hangs has had its time.
	close(patient bool)
}

// arrival is something that a server sent. Its bytes belong to whoever receives it.
type arrival struct {
	turn    int    // the sending that it came for; 0 if the transport cannot tell
	message []byte // as it came; of one that is too large only the beginning
	tail    []byte // the end of one that is too large
	size    int64  // of all of it

	whole      bool // the body of an answer over HTTP: it belongs to its request, whatever it holds
	status     int  // of HTTP
	retryAfter string
}
