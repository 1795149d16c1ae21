package drive

import "context"

// link is a connection to a running server. It transports messages without reading them.
type link interface {
	// send sends a message. Over HTTP it returns when the whole response has arrived; turn is the turn of these arrivals.
	send(ctx context.Context, turn int, message []byte) error
	// arrivals returns the messages of the server in order. It is closed at the end of the connection.
	arrivals() <-chan arrival
	// exchanges reports whether answers come only in the response to their request.
	exchanges() bool
	// agreed sets the negotiated protocol version.
	agreed(version string)
	// stderr returns the end of the server's standard error since the last call, without secrets.
	stderr(m *mask) string
	// exitStatus returns the exit status of the server. It may wait briefly for the process to end.
	exitStatus() string
	// close ends the connection, and the server if it was started for it, and waits for both. If patient is set, the server gets time to
	// end by itself.
	close(patient bool)
}

// arrival is a message from a server. The receiver owns its bytes.
type arrival struct {
	turn    int    // turn of the request over HTTP; 0 if unknown
	message []byte // as received; only the beginning if it is too large
	tail    []byte // the end of a message that is too large
	size    int64  // full size

	whole      bool // a complete HTTP response body, which belongs to its request in any case
	status     int  // HTTP status
	retryAfter string
}
