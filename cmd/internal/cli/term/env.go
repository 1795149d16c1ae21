// Package term has the code that all commands share: the environment of a command, errors with an exit code and a next step,
// output, colour, arguments and flags.
package term

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/asyncwriter"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/cmd/internal/fleet/filestore"
	"github.com/candor-mcp/candor/internal/timestamp"
	"github.com/candor-mcp/candor/ledger"
)

// Env is everything outside the program that a command may use.
type Env struct {
	In     io.Reader
	Out    *Output
	Err    io.Writer
	Getenv func(string) string
	Now    func() time.Time
	// Terminal reports whether standard output is a terminal.
	Terminal bool
	// Interactive reports whether standard input is a terminal too.
	Interactive bool
	// ColorMode is the value of --color.
	ColorMode string
	// Engines are the engines for the shared record of many nodes.
	Engines fleet.Engines
	// Exporters write entries in the formats that only candor-cluster has, by name.
	Exporters map[string]Exporter
	// background writes standard error after BackgroundStderr, otherwise nil.
	background *asyncwriter.Writer
}

// ExportLine is an entry to export, and the node that wrote it. Node is empty for the ledger of one machine.
type ExportLine struct {
	Node string
	Line *ledger.Line
}

// Exporter writes entries to a file of one format.
type Exporter func(w io.Writer, entries iter.Seq2[ExportLine, error]) error

// ProcessEnv returns the environment of this process.
func ProcessEnv() *Env {
	terminal := IsTerminal(os.Stdout)
	return &Env{
		In:          os.Stdin,
		Out:         NewOutput(os.Stdout, fileMode(os.Stdout).IsRegular()),
		Err:         os.Stderr,
		Getenv:      getenv,
		Now:         time.Now,
		Terminal:    terminal,
		Interactive: terminal && IsTerminal(os.Stdin),
		Engines:     fleet.Engines{filestore.Scheme: filestore.Engine{}},
		Exporters:   map[string]Exporter{},
	}
}

// IsTerminal reports whether f is a character device. A closed file is not.
func IsTerminal(f *os.File) bool { return fileMode(f)&os.ModeCharDevice != 0 }

func fileMode(f *os.File) os.FileMode {
	info, err := f.Stat()
	if err != nil {
		return 0
	}
	return info.Mode()
}

// stderrFlushTimeout bounds the time to write the last lines to standard error when a command ends.
const stderrFlushTimeout = time.Second

// BackgroundStderr makes writes to standard error asynchronous, for commands that serve a peer: a full pipe must not block the
// protocol. Lines that are not read in time are dropped and counted. If json is set, the line with the count is JSON.
func (env *Env) BackgroundStderr(json bool) {
	if env.background != nil {
		return
	}
	env.background = asyncwriter.New(env.Err, asyncwriter.DefaultLimit, func(writes, size int) []byte {
		var b bytes.Buffer
		var handler slog.Handler = slog.NewTextHandler(&b, nil)
		if json {
			handler = slog.NewJSONHandler(&b, nil)
		}
		slog.New(handler).Warn("standard error was not read, log lines were dropped", slog.Int("writes", writes), slog.Int("bytes", size))
		return b.Bytes()
	})
	env.Err = env.background
}

// Close writes the remaining lines to standard error, within stderrFlushTimeout.
func (env *Env) Close() {
	if env.background != nil {
		env.background.Close(stderrFlushTimeout)
	}
}

// ParseTime parses the value of --at: a time, "now", or "" for the zero time.
func (env *Env) ParseTime(text string) (time.Time, error) {
	switch text {
	case "":
		return time.Time{}, nil
	case "now":
		return env.Now(), nil
	}
	at, err := timestamp.Parse(text)
	if err != nil {
		return time.Time{}, BadInput("such as 2026-01-02T15:04:05Z, or now", "--at %q: not a time", text)
	}
	return at, nil
}

// Report writes an error and its next step to standard error.
func (env *Env) Report(cmd *cobra.Command, e *Error) { env.Notify(cmd, e.Text, e.Hint) }

// Notify writes a line to standard error, and the next step below it unless hint is empty.
func (env *Env) Notify(cmd *cobra.Command, text, hint string) {
	fmt.Fprintf(env.Err, "%s: %s\n", cmd.CommandPath(), text)
	if hint != "" {
		fmt.Fprintf(env.Err, "hint: %s\n", hint)
	}
}

// ask prints a question and reports whether the answer was yes.
func (env *Env) ask(question string) bool {
	fmt.Fprint(env.Out, question+" [y/N] ")
	if env.Out.Flush() != nil {
		return false
	}
	answer, _ := bufio.NewReader(env.In).ReadString('\n')
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes"
}

// Confirm reports whether yes is set, or asks a question and reports whether the answer was yes. If standard output is not a terminal it returns an error, so that
// a script notices that nothing was done; hint explains how to run the command without the question. With json, whose output says
// what was done, it only prints the hint.
func (env *Env) Confirm(cmd *cobra.Command, yes, json bool, hint, question string) (bool, error) {
	const text = "not a terminal, cannot ask for confirmation; nothing was changed"
	switch {
	case yes:
		return true, nil
	case json:
		env.Notify(cmd, text, hint)
		return false, nil
	case !env.Terminal:
		return false, BadInput(hint, text)
	case env.ask(question):
		return true, nil
	}
	fmt.Fprintln(env.Out, "Nothing was changed.")
	return false, nil
}

// RequireYes returns nil if yes is set or the answer to the question is yes, else the error to exit with.
func (env *Env) RequireYes(yes, json bool, question string) error {
	switch {
	case yes:
		return nil
	case json:
		return BadInput("use --yes", "--json: cannot ask for confirmation; nothing was changed")
	case !env.Interactive:
		return BadInput("use --yes", "not a terminal, cannot ask for confirmation; nothing was changed")
	case !env.ask(question):
		return &Error{Code: ExitFound, Text: "nothing was changed"}
	}
	return nil
}
