package stdio

import (
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
)

const readyLine = `{"type":"ready","methods":["kg/query","sys/ping"],"schema":{"errorCodes":1},"server":"memory"}`

// TestReadyLineIsPassedOnOnce protects clients of a JSON-RPC harness. They wait for its first line, and must see it once even if
// the server is restarted.
func TestReadyLineIsPassedOnOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := newDesk(t, gateway.Options{})
		d.server(readyLine)
		if got := d.told(); len(got) != 1 || got[0] != readyLine {
			t.Fatalf("the client was sent %q", got)
		}
		d.server(readyLine) // no longer the first line
		d.link = d.pump.newServerConn(newLineWriter(d.toServer, 0))
		d.pump.connect(d.link)
		d.server(readyLine) // from a restarted server
		d.wantTold()
		d.wantEntries(map[string]int{}, 0)
	})
}

func TestOtherFirstLinesAreKeptFromTheClient(t *testing.T) {
	for _, line := range []string{
		`{"type":"ready"}`, `{"type":"ready","methods":"all"}`, `{"type":"log","methods":[]}`, `{"jsonrpc":"2.0","type":"ready","methods":[]}`,
		`starting up`, `[]`,
	} {
		bubble(t, func(t *testing.T) {
			d := newDesk(t, gateway.Options{})
			d.server(line)
			d.wantTold()
			d.server(readyLine) // too late
			d.wantTold()
		})
	}
}
