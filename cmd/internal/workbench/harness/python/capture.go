package python

import (
	"strings"
	"sync/atomic"
	"unicode/utf8"
)

// tailBytes is the number of bytes at the end of an output that are kept besides its beginning, because the last lines
// show why a program failed.
const tailBytes = 4 << 10

// capture keeps the beginning and the end of an output.
type capture struct {
	keep int
	head []byte
	tail []byte // at most 2*tailBytes, of which the last tailBytes count
	all  int64

	total *volume
}

// volume counts the output of a process.
type volume struct {
	written atomic.Int64
	flood   chan struct{} // receives a value when the output is too large
}

func (c *capture) Write(p []byte) (int, error) {
	n := len(p)
	c.all += int64(n)
	if c.total.written.Add(int64(n)) > floodAfter {
		select {
		case c.total.flood <- struct{}{}:
		default:
		}
	}
	free := min(c.keep-len(c.head), len(p))
	c.head, p = append(c.head, p[:free]...), p[free:]
	if len(p) > tailBytes {
		p = p[len(p)-tailBytes:]
	}
	if c.tail = append(c.tail, p...); len(c.tail) > 2*tailBytes {
		c.tail = append(c.tail[:0], c.tail[len(c.tail)-tailBytes:]...)
	}
	return n, nil
}

// truncated reports whether bytes were omitted.
func (c *capture) truncated() bool {
	return c.all > int64(len(c.head)+min(len(c.tail), tailBytes))
}

// text returns the kept bytes, with a mark at the gap.
func (c *capture) text() string {
	tail := c.tail[max(0, len(c.tail)-tailBytes):]
	if !c.truncated() {
		return strings.ToValidUTF8(string(c.head)+string(tail), "\ufffd")
	}
	head := c.head
	for i := 0; i < utf8.UTFMax && len(head) > 0 && !utf8.RuneStart(head[len(head)-1]); i++ { // do not cut a character
		head = head[:len(head)-1]
	}
	for len(tail) > 0 && !utf8.RuneStart(tail[0]) {
		tail = tail[1:]
	}
	return strings.ToValidUTF8(string(head)+"\n…\n"+string(tail), "\ufffd")
}

// ending returns the end of the output.
func (c *capture) ending() string {
	all := append(append([]byte{}, c.head[max(0, len(c.head)-tailBytes):]...), c.tail...)
	return strings.ToValidUTF8(string(all[max(0, len(all)-tailBytes):]), "\ufffd")
}
