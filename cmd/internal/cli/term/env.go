// Package term has what all commands share: the environment a command runs in, errors with an exit code and a next step, output,
// colour, arguments and flags.
package term

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

// Env is everything outside the program that a command may touch.
type Env struct {
	In     io.Reader
	Out    *Output
	Err    io.Writer
	Getenv func(string) string
	Now    func() time.Time
	// Terminal says that somebody is watching the output.
	Terminal bool
	// Interactive says that the input is a terminal too.
	Interactive bool
	// ColorMode is the value of --color.
	ColorMode string
	// background writes standard error for commands that serve, see BackgroundStderr; nil for all others.
	background *asyncwriter.Writer
}

// ProcessEnv is the world of a real start.
func ProcessEnv() *Env {
	mode := ModeOf(os.Stdout)
	return &Env{
		In:          os.Stdin,
		Out:         NewOutput(os.Stdout, mode.IsRegular()),
		Err:         os.Stderr,
		Getenv:      os.Getenv,
		Now:         time.Now,
		Terminal:    mode&os.ModeCharDevice != 0,
		Interactive: ModeOf(os.Stdin)&os.ModeCharDevice != 0 && mode&os.ModeCharDevice != 0,
	}
}

// errPatience is how long the last lines on standard error may take when a command that serves ends.
const errPatience = time.Second

// BackgroundStderr is for commands that serve a peer until it leaves. A full pipe on standard error must not stop the protocol, so that
// from here on lines which its reader does not take are dropped and counted. Standard error is JSON if json is set.
func (env *Env) BackgroundStderr(json bool) {
	if env.background != nil {
		return
	}
	env.background = asyncwriter.New(env.Err, asyncwriter.DefaultLimit, func(writes, size int) []byte {
		var b bytes.Buffer
		const text = "standard error was not read, log lines were dropped"
		if json {
			slog.New(slog.NewJSONHandler(&b, nil)).Warn(text, slog.Int("writes", writes), slog.Int("bytes", size))
		} else {
			slog.New(slog.NewTextHandler(&b, nil)).Warn(text, slog.Int("writes", writes), slog.Int("bytes", size))
		}
		return b.Bytes()
	})
	env.Err = env.background
}

// Close writes what is left of standard error, within errPatience.
func (env *Env) Close() {
	if env.background != nil {
		env.background.Close(errPatience)
	}
}

func ModeOf(f *os.File) os.FileMode {
	info, err := f.Stat()
	if err != nil { // a closed stream is nobody's terminal
		return 0
	}
	return info.Mode()
}

// ParseTime reads the value of --at: a time, "now", or nothing for the zero time.
func (env *Env) ParseTime(text string) (time.Time, error) {
	switch text {
	case "":
		return time.Time{}, nil
	case "now":
		return env.Now(), nil
	}
	at, err := candor.ParseTime(text)
	if err != nil {
		return time.Time{}, BadInput("such as 2026-01-02T15:04:05Z, or now", "--at %q is not a time", text)
	}
	return at, nil
}

// Report writes an error and its next step to standard error.
func (env *Env) Report(cmd *cobra.Command, f *Error) { env.Notify(cmd, f.Text, f.Hint) }

// Notify writes a line to standard error, and below it the next step unless hint is empty.
func (env *Env) Notify(cmd *cobra.Command, text, hint string) {
	fmt.Fprintf(env.Err, "%s: %s\n", cmd.CommandPath(), text)
	if hint != "" {
		fmt.Fprintf(env.Err, "hint: %s\n", hint)
	}
}

// Colors asks the flag first, then NO_COLOR (https://no-color.org), then whether somebody is watching.
func (env *Env) Colors() Colors {
	switch env.ColorMode {
	case "always":
		return Colors{On: true}
	case "never":
		return Colors{}
	}
	return Colors{On: env.Terminal && env.Getenv("NO_COLOR") == "" && env.Getenv("TERM") != "dumb"}
}
