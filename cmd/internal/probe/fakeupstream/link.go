package fakeupstream

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"time"
)

// The limits of the link.
const (
	maxLine   = 16 << 10
	maxHalves = 64
	maxEvents = 10_000 // reported in one window; further events are not counted
	sendWait  = 5 * time.Second
)

// The words of the inner half: a fault is set, or an event occurred.
const (
	sawSettled = "settled"
	sawRequest = "request"
	sawRefused = "refused"
)

// The words of the outer half.
const (
	sayAuthority = "authority"
	sayFault     = "fault"
)

// link is the socket between the halves, with a word and its arguments on each line. Lines arrive in order, so that events before "settled"
// count for the window before.
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

// send writes one line. If the other half does not read in time, the link is closed. If it has ended, the link stays open, so that its
// reader gets the lines that were sent before.
func (l *link) send(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.SetWriteDeadline(time.Now().Add(sendWait)) // an error shows again when writing
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

// bounded truncates a foreign text for an error.
func bounded(text string) string {
	const most = 2000
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}
