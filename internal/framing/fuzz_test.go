package framing_test

import (
	"bytes"
	"testing"

	"github.com/candor-mcp/candor/internal/framing"
	"github.com/candor-mcp/candor/wire"
)

func FuzzNDJSON(f *testing.F) {
	f.Add([]byte("a\nbb\r\n\n0123456789\nc"), []byte{1, 3}, 5)
	f.Add([]byte("\xef\xbb\xbf{}\r\n\x00\r\r\n\xe2\x82\xac\n"), []byte{0}, 3)
	f.Fuzz(func(t *testing.T, in, sizes []byte, limit int) {
		sameLines(t, in, append(sizes, 0), 1+limit&0x1f)
		sameLines(t, in, append(sizes, 0), 0)
	})
}

func FuzzSSE(f *testing.F) {
	f.Add([]byte("\xef\xbb\xbfdata: a\r\n\r\nid: 1\rdata\r\r\n:c\n\ndata: x"), []byte{1, 3}, 12)
	f.Add([]byte("event: e\nretry: 10\ndata: a\ndata: b\n\n\n\r\n"), []byte{0}, 60)
	f.Fuzz(func(t *testing.T, in, sizes []byte, limit int) {
		sameEvents(t, in, append(sizes, 0), 1+limit&0x3f)
		sameEvents(t, in, append(sizes, 0), 1<<20)
		checkReplacing(t, in)
	})
}

// checkReplacing puts new data into the first event and reads it back.
func checkReplacing(t *testing.T, in []byte) {
	e, err := framing.NewEventReader(bytes.NewReader(in), wire.Limits{}).Next()
	if err != nil || e.Unended {
		return
	}
	out, err := e.AppendWithData(nil, []byte("new"))
	if err != nil {
		t.Fatal(err)
	}
	r := framing.NewEventReader(bytes.NewReader(out), wire.Limits{})
	again, err := r.Next()
	if err != nil || string(again.Data) != "new" || !bytes.Equal(again.ID, e.ID) || !bytes.Equal(again.Type, e.Type) {
		t.Fatalf("%q with new data is %q, which reads %s, %v", e.Raw, out, show(again), err)
	}
}
