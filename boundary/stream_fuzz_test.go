package boundary

import (
	"bytes"
	"io"
	"testing"

	"github.com/candor-mcp/candor/wire"
)

// FuzzStream sends arbitrary bytes to a session. The server must not panic, every line that it writes must be a message, and the
// session must still answer.
func FuzzStream(f *testing.F) {
	for _, r := range matrix {
		if r.limit == 0 {
			f.Add([]byte(eras[0].say(r.send) + "\n" + eras[1].say(r.send)))
		}
	}
	f.Add([]byte("\xef\xbb\xbf\r\n\x00\n" + cancelOf("1.5") + "\n" + request7era("asks", "1e3")))
	f.Fuzz(func(t *testing.T, data []byte) {
		// Calls of this tool would delay the end of the input.
		if bytes.Contains(data, []byte("waits")) || len(data) > 1<<16 {
			t.Skip()
		}
		s := begin(t, rowServer(), eras[0], Options{MaxMessage: 8192, Logger: quiet})
		go func() {
			s.in.Write(data)                                                                 //nolint:errcheck // errors show in the answers
			io.WriteString(s.in, "\n"+`{"jsonrpc":"2.0","id":"fuzz-alive","method":"ping"}`) //nolint:errcheck // same
			shut(t, s.in)
		}()
		lives := false
		for _, l := range s.collect() {
			m := wire.Parse([]byte(l), wire.Limits{AllowLoneSurrogates: true})
			if err := m.Err(); err != nil {
				t.Errorf("%v in %q", err, l)
			}
			lives = lives || string(m.ID()) == `"fuzz-alive"`
		}
		if !lives {
			t.Error("the session did not live on")
		}
		if total, _, _ := s.meter.counts(); total != len(s.ledger.all()) {
			t.Errorf("counted %d and recorded %d", total, len(s.ledger.all()))
		}
	})
}
