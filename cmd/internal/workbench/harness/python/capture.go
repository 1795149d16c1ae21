package python

import (
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"github.com/candor-mcp/candor/internal/tail"
)

// tailBytes is the number of bytes at the end of an output that are kept besides its beginning, because the last lines
// show why a program failed.
const tailBytes = 4 << 10

// capture keeps the beginning and the end of an output.
type capture struct {
	keep  int
	head  []byte
	tail  tail.Tail // of the bytes after head
	total *volume
}

// volume counts the output of a process.
type volume struct {
	written atomic.Int64
	flood   chan struct{} // receives a value when the output is too large
}

func (c *capture) Write(p []byte) (int, error) {
	n := len(p)
	if c.total.written.Add(int64(n)) > floodAfter {
		select {
		case c.total.flood <- struct{}{}:
		default:
		}
	}
	free := min(c.keep-len(c.head), len(p))
	c.head, p = append(c.head, p[:free]...), p[free:]
	_, _ = c.tail.Write(p)
	return n, nil
}

// truncated reports whether bytes were omitted.
func (c *capture) truncated() bool {
	_, cut := c.tail.Text()
	return cut
}

// text returns the kept bytes, with a mark at the gap.
func (c *capture) text() string {
	head, tail := c.head, c.tail.String()
	if !c.truncated() {
		return strings.ToValidUTF8(string(head)+tail, "\ufffd")
	}
	for i := 0; i < utf8.UTFMax && len(head) > 0 && !utf8.RuneStart(head[len(head)-1]); i++ { // do not cut a character
		head = head[:len(head)-1]
	}
	for tail != "" && !utf8.RuneStart(tail[0]) {
		tail = tail[1:]
	}
	return strings.ToValidUTF8(string(head)+"\n…\n"+tail, "\ufffd")
}

// ending returns the end of the output.
func (c *capture) ending() string {
	all := string(c.head[max(0, len(c.head)-tailBytes):]) + c.tail.String()
	return strings.ToValidUTF8(all[max(0, len(all)-tailBytes):], "\ufffd")
}
