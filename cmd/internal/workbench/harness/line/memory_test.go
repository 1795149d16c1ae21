package line

import (
	"bytes"
	"flag"
	"io"
	"testing"
)

var memoryLines = flag.Int("lines", 100_000, "lines of the memory test; a million takes some seconds")

// TestMemoryIsFlatOverManyLines compares the heap after a tenth of the lines with the heap after all of them.
func TestMemoryIsFlatOverManyLines(t *testing.T) {
	c := start(t, func(o *Options) { o.Recorder = nil })
	chunk := []byte(pingLine + `{"jsonrpc":"2.0","id":1,"method":"t/full"}` + "\n" + `{"jsonrpc":"2.0","id":1,"method":"made/up"}` + "\nnull\n" +
		`{"jsonrpc":"2.0","id":"x","method":"t/echo","params":{"text":"hello"}}` + "\n")
	const perChunk = 5
	chunk = bytes.Repeat(chunk, 100)
	send := func(lines int) {
		go func() {
			for sent := 0; sent < lines; sent += perChunk * 100 {
				_, _ = c.in.Write(chunk)
			}
		}()
		for range lines {
			if _, err := c.out.ReadSlice('\n'); err != nil {
				t.Fatal(err)
			}
		}
	}
	c.out.Reset(io.Reader(c.outEnd))
	send(*memoryLines / 10)
	before := heap()
	send(*memoryLines)
	if after := heap(); after > before+2<<20 {
		t.Errorf("the heap grew from %d to %d bytes over %d lines", before, after, *memoryLines)
	}
}
