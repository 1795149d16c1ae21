package fake

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Bounds of what the halves say to each other.
const (
	maxLine   = 16 << 10
	maxHalves = 64
	maxEvents = 10_000 // that a half tells of in one window; a server that asks more often has been seen well enough
	sendWait  = 5 * time.Second
)

// What the inner half says: that a fault is in force, and what it sees.
const (
	sawSettled   = "settled"
	sawRequest   = "request"
	sawRefused   = "refused"
	sawLookup    = "lookup"
	sawUntrusted = "untrusted"
)

// What the outer half says.
const (
	sayAuthority = "authority"
	sayPort      = "port"
	sayFault     = "fault"
)

// link is the socket between the halves: a word and what belongs to it on each line. Lines arrive in order, which is what the counts rest on:
// what is said before settled belongs to the window before.
type link struct {
	net.Conn
	lines *bufio.Scanner
	mu    sync.Mutex // held while a line is written
}

func newLink(conn net.Conn) *link {
	lines := bufio.NewScanner(conn)
	lines.Buffer(make([]byte, 0, 256), maxLine)
	return &link{Conn: conn, lines: lines}
}

// send writes one line. A half that does not take it is stuck, and the link is closed. One that is gone may have said something before:
// then the link is left to its reader, who comes to the end by himself.
func (l *link) send(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.SetWriteDeadline(time.Now().Add(sendWait)) // on a closed link, writing fails
	if _, err := l.Write([]byte(line + "\n")); errors.Is(err, os.ErrDeadlineExceeded) {
		_ = l.Close()
	}
}

// receive returns the next line.
func (l *link) receive() (word, rest string, err error) {
	if !l.lines.Scan() {
		if err := l.lines.Err(); err != nil {
			return "", "", err
		}
		return "", "", net.ErrClosed
	}
	word, rest, _ = strings.Cut(l.lines.Text(), " ")
	return word, rest, nil
}

func order(window int, fault string) string { return fmt.Sprintf("%s %d %s", sayFault, window, fault) }

func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return -1
	}
	return n
}

// bounded cuts what somebody else has said to what fits into an error.
func bounded(text string) string {
	const most = 2000
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}
