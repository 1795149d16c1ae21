// Package service has the flags and the start-up that commands share which serve until they are stopped: log, ledger and counters.
package service

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/gateway/config"
	"github.com/candor-mcp/candor/cmd/internal/trail"
	"github.com/candor-mcp/candor/internal/plug"
	"github.com/candor-mcp/candor/ledger"
	"github.com/candor-mcp/candor/meter"
)

// Sinks are what a gateway of either kind is plugged into: where it speaks, records and counts.
type Sinks struct {
	W      *term.Env
	Cmd    *cobra.Command
	Log    *slog.Logger
	JSON   bool // standard error is for programs
	Dir    string
	Ledger *ledger.Ledger // nil without a ledger
	Counts *meter.Meter
}

// Flags are those that all gateways have.
type Flags struct {
	Ledger   string
	Keep     KeepFlags
	JSONLogs bool
	Quiet    bool
	Level    *slog.LevelVar // of the log, for a command that can change it; nil follows quiet
}

func (f *Flags) Register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.Ledger, "ledger", "", "the ledger's folder, or none; default CANDOR_LEDGER, else the state folder")
	f.Keep.Register(cmd)
	cmd.Flags().BoolVar(&f.JSONLogs, "json-logs", false, "write each line on standard error as JSON")
	cmd.Flags().BoolVar(&f.Quiet, "quiet", false, "say nothing at the end, and nothing but warnings before")
}

// Open opens the ledger and the counters. Instance names the writer in the ledger.
func (f *Flags) Open(ctx context.Context, env *term.Env, cmd *cobra.Command, instance string) (*Sinks, error) {
	env.BackgroundStderr(f.JSONLogs)
	p := &Sinks{W: env, Cmd: cmd, Log: f.Logger(env.Err), JSON: f.JSONLogs}
	var err error
	if p.Dir, err = plug.Folder(f.Ledger, env.Getenv); err != nil {
		return nil, term.BadInput("name a folder with --ledger, or --ledger none", "%s", term.TrimHint(err))
	}
	if p.Counts, err = plug.Meter(ctx, p.Dir, env.Getenv, p.Log); err != nil {
		return nil, term.BadInput("see docs/meter.md", "%s", err)
	}
	if p.Counts == nil { // nobody asked for them, but the last line tells of them
		if p.Counts, err = meter.New(meter.Options{}); err != nil {
			return nil, err
		}
	}
	if p.Ledger, err = plug.Ledger(p.Dir, f.Keep.Options(p.Dir, instance, env.Getenv, p.Log), p.Log); err != nil {
		return nil, term.BadInput("name a folder that can be written with --ledger, or --ledger none", "%s", term.TrimHint(err))
	}
	return p, nil
}

func (f *Flags) Logger(to io.Writer) *slog.Logger {
	options := &slog.HandlerOptions{Level: slog.LevelInfo}
	if f.Quiet {
		options.Level = slog.LevelWarn
	}
	if f.Level != nil {
		options.Level = f.Level
	}
	if f.JSONLogs {
		return slog.New(slog.NewJSONHandler(to, options))
	}
	return slog.New(slog.NewTextHandler(to, options))
}

// Attach plugs the options of an upstream in.
func (p *Sinks) Attach(o gateway.Options) gateway.Options {
	o.Meter, o.Logger = p.Counts, p.Log
	if p.Ledger != nil {
		o.Ledger = trail.Of(p.Ledger)
	}
	return o
}

// Notice tells the operator something that is no failure.
func (p *Sinks) Notice(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if p.JSON {
		p.Log.Info("notice", slog.String("text", text))
		return
	}
	p.W.Notify(p.Cmd, text, "")
}

// Close writes the counters where the environment wants them and closes the ledger.
func (p *Sinks) Close() error {
	err := p.Counts.Close()
	if p.Ledger != nil {
		err = errors.Join(err, p.Ledger.Close())
	}
	if err != nil {
		return term.BadInput("candor ledger verify says what is on the disk", "closing the ledger: %s", term.Cause(err))
	}
	return nil
}

// Summary is the last line: calls, failures with the three most frequent codes, where they are recorded, and those that could not be.
func (p *Sinks) Summary(calls uint64) string {
	s := p.Counts.Snapshot()
	text := term.Count(calls, "call", "calls") + ", " + term.Count(s.Total, "failure", "failures")
	if s.Suspected > 0 {
		text += fmt.Sprintf(", %d of them only suspected", s.Suspected)
	}
	if s.Total > 0 {
		text += " (" + frequent(s.Codes) + ")"
	}
	if p.Ledger == nil {
		return text + ", not recorded"
	}
	return text + ", recorded in " + p.Dir + unrecorded(s.Unrecorded)
}

// unrecorded tells of failures that are in no ledger, because it could not be written to.
func unrecorded(codes []meter.CodeCount) string {
	lost := uint64(0)
	for _, c := range codes {
		lost += c.Count
	}
	if lost == 0 {
		return ""
	}
	return "; " + term.Count(lost, "failure", "failures") + " NOT recorded (" + frequent(codes) + ")"
}

func frequent(codes []meter.CodeCount) string {
	const most = 3
	slices.SortStableFunc(codes, func(a, b meter.CodeCount) int { return cmp.Compare(b.Count, a.Count) })
	var words []string
	for _, c := range codes[:min(most, len(codes))] {
		words = append(words, fmt.Sprintf("%s %d", c.Code.Symbol(), c.Count))
	}
	if len(codes) > most {
		words = append(words, "…")
	}
	return strings.Join(words, ", ")
}

// LogLines writes what a server prints line by line into the log, so that standard error stays JSON.
type LogLines struct {
	Log  *slog.Logger
	Name string

	mu  sync.Mutex
	buf []byte // guarded by mu: a line that has not ended yet
}

// maxLogLine bounds a line of a server that never ends one.
const maxLogLine = 8 << 10

func (l *LogLines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for rest := p; len(rest) > 0; {
		end := bytes.IndexByte(rest, '\n')
		if end < 0 {
			l.keep(rest)
			break
		}
		l.keep(rest[:end])
		l.Log.Info("the server prints", slog.String("upstream", l.Name), slog.String("line", string(l.buf)))
		l.buf, rest = l.buf[:0], rest[end+1:]
	}
	return len(p), nil
}

func (l *LogLines) keep(text []byte) {
	l.buf = append(l.buf, text[:min(len(text), maxLogLine-len(l.buf))]...)
}

// BadFlag is the fault of a flag whose value package config does not understand.
func BadFlag(flag string, err error) *term.Error {
	if m, ok := errors.AsType[*config.Mistake](err); ok {
		return term.BadInput(m.Hint, "%s: %s", flag, m.Text)
	}
	return term.BadInput("", "%s: %s", flag, err)
}

// BadFile is the fault of a file that cannot be read, or of what is in it: then every problem has its own hint.
func BadFile(flag string, err error) *term.Error {
	if inside, ok := errors.AsType[*config.Error](err); ok {
		return &term.Error{Code: term.ExitBad, Text: inside.Error(), Cause: inside}
	}
	return term.BadInput("check the name that "+flag+" gives", "%s", err)
}
