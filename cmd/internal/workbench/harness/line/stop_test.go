package line

import (
	"io"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/internal/framing"
	"github.com/candor-mcp/candor/wire"
)

// TestFlushAfterStopStartsNothing has the reader flush after the server has stopped, as it may when the client closes the output before
// it has sent a line. Counting the flush as a call ended the process with "close of closed channel".
func TestFlushAfterStopStartsNothing(t *testing.T) {
	s, err := New(nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := newConn(t.Context(), s, framing.NewLineReader(strings.NewReader(""), wire.Limits{}), newOutput(io.Discard))
	c.stop()
	if c.reader.flush() {
		t.Error("the reader goes on after the stop")
	}
	select {
	case <-c.idle:
	default:
		t.Error("the connection is not idle")
	}
	if err := c.out.close(); err != nil {
		t.Error(err)
	}
}
