package main

import (
	"bufio"
	"bytes"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/asyncwriter"
)

// world is everything outside the program that a command may touch.
type world struct {
	in     io.Reader
	out    *sink
	err    io.Writer
	getenv func(string) string
	now    func() time.Time
	// terminal says that somebody is watching the output.
	terminal bool
	// typing says that the input is a terminal too.
	typing bool
	// color is the value of --color.
	color string
	// background writes standard error for commands that serve, see serveMode; nil for all others.
	background *asyncwriter.Writer
}

// system is the world of a real start.
func system() *world {
	mode := modeOf(os.Stdout)
	return &world{
		in:       os.Stdin,
		out:      newSink(os.Stdout, mode.IsRegular()),
		err:      os.Stderr,
		getenv:   os.Getenv,
		now:      time.Now,
		terminal: mode&os.ModeCharDevice != 0,
		typing:   modeOf(os.Stdin)&os.ModeCharDevice != 0 && mode&os.ModeCharDevice != 0,
	}
}

// errPatience is how long the last lines on standard error may take when a command that serves ends.
const errPatience = time.Second

// serveMode is for commands that serve a peer until it leaves. A full pipe on standard error must not stop the protocol, so that
// from here on lines which its reader does not take are dropped and counted. Standard error is JSON if json is set.
func (w *world) serveMode(json bool) {
	if w.background != nil {
		return
	}
	w.background = asyncwriter.New(w.err, asyncwriter.DefaultLimit, func(writes, size int) []byte {
		var b bytes.Buffer
		const text = "standard error was not read, log lines were dropped"
		if json {
			slog.New(slog.NewJSONHandler(&b, nil)).Warn(text, slog.Int("writes", writes), slog.Int("bytes", size))
		} else {
			slog.New(slog.NewTextHandler(&b, nil)).Warn(text, slog.Int("writes", writes), slog.Int("bytes", size))
		}
		return b.Bytes()
	})
	w.err = w.background
}

// close writes what is left of standard error, within errPatience.
func (w *world) close() {
	if w.background != nil {
		w.background.Close(errPatience)
	}
}

func modeOf(f *os.File) os.FileMode {
	info, err := f.Stat()
	if err != nil { // a closed stream is nobody's terminal
		return 0
	}
	return info.Mode()
}

// timeOf reads the value of --at: a time, "now", or nothing for the zero time.
func (w *world) timeOf(text string) (time.Time, error) {
	switch text {
	case "":
		return time.Time{}, nil
	case "now":
		return w.now(), nil
	}
	at, err := candor.ParseTime(text)
	if err != nil {
		return time.Time{}, bad("such as 2026-01-02T15:04:05Z, or now", "--at %q is not a time", text)
	}
	return at, nil
}

// sink is a buffered output that remembers its first failure, so that a line may be printed without asking each time.
type sink struct {
	to   io.Writer // what buf writes to
	buf  *bufio.Writer
	lazy bool // nobody waits for single lines
	err  error
}

func newSink(w io.Writer, lazy bool) *sink {
	return &sink{to: w, buf: bufio.NewWriterSize(w, 64<<10), lazy: lazy}
}

// Write buffers p. After a failure it does nothing but repeat it.
func (s *sink) Write(p []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	n, err := s.buf.Write(p)
	s.err = err
	return n, err
}

// Flush sends what is buffered and returns the first failure of all.
func (s *sink) Flush() error {
	if s.err == nil {
		s.err = s.buf.Flush()
	}
	return s.err
}

// LineEnd ends a record: who reads along, on a terminal or behind a pipe, sees it now.
func (s *sink) LineEnd() error {
	if s.lazy {
		return s.err
	}
	return s.Flush()
}
