package main

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/cobra"

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

// report writes an error and its next step to standard error.
func (w *world) report(cmd *cobra.Command, f *fault) { w.notify(cmd, f.text, f.hint) }

// notify writes a line to standard error, and below it the next step unless hint is empty.
func (w *world) notify(cmd *cobra.Command, text, hint string) {
	fmt.Fprintf(w.err, "%s: %s\n", cmd.CommandPath(), text)
	if hint != "" {
		fmt.Fprintf(w.err, "hint: %s\n", hint)
	}
}

// paint asks the flag first, then NO_COLOR (https://no-color.org), then whether somebody is watching.
func (w *world) paint() paint {
	switch w.color {
	case "always":
		return paint{on: true}
	case "never":
		return paint{}
	}
	return paint{on: w.terminal && w.getenv("NO_COLOR") == "" && w.getenv("TERM") != "dumb"}
}
