// Package service has the flags and the start-up code that server commands share: log, ledger and counters.
package service

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/fleet/ship"
	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/gateway/config"
	"github.com/candor-mcp/candor/cmd/internal/telemetry"
	"github.com/candor-mcp/candor/internal/ledgerconfig"
	"github.com/candor-mcp/candor/internal/plural"
	"github.com/candor-mcp/candor/ledger"
	"github.com/candor-mcp/candor/meter"
)

// Sinks are the log, the ledger and the counters of a server command.
type Sinks struct {
	Env    *term.Env
	Cmd    *cobra.Command
	Log    *slog.Logger
	JSON   bool           // standard error is JSON
	Dir    string         // folder of the ledger
	Ledger *ledger.Ledger // nil with --ledger none
	Ship   *ship.Shipper  // nil if the ledger is not shipped to a store
	Counts *meter.Meter
	Calls  *telemetry.Calls    // durations of calls; nil if they are not measured
	Export *telemetry.Export   // nil unless the environment asks for it
	seen   *telemetry.Observer // nil if failures are neither exported nor logged
}

// Flags are the flags for [Sinks].
type Flags struct {
	Ledger   string
	Keep     KeepFlags
	JSONLogs bool
	Quiet    bool
	Level    *slog.LevelVar // for a command that changes its log level; nil follows Quiet
}

// Register adds the flags.
func (f *Flags) Register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.Ledger, "ledger", "", "folder of the ledger, URL of a store that it is shipped to, or none; default $CANDOR_LEDGER, else candor/ledger in the state folder")
	f.Keep.Register(cmd)
	cmd.Flags().BoolVar(&f.JSONLogs, "json-logs", false, "write standard error as JSON lines")
	cmd.Flags().BoolVar(&f.Quiet, "quiet", false, "log only warnings, and print no summary at the end")
}

// KeepFlags are the flags for the witness copy of checkpoints and for the retention of a ledger. Every command that writes a ledger
// has them.
type KeepFlags struct {
	ledgerconfig.Keep
	cmd *cobra.Command
}

// keepFlags maps the flags to the environment variables with their defaults.
var keepFlags = map[string]string{
	ledgerconfig.EnvKeepAge:   "ledger-keep-age",
	ledgerconfig.EnvKeepBytes: "ledger-keep-bytes",
	ledgerconfig.EnvCompress:  "ledger-compress",
}

// Register adds the flags.
func (f *KeepFlags) Register(cmd *cobra.Command) {
	f.cmd = cmd
	f.RegisterCheckpoints(cmd)
	cmd.Flags().Var((*term.AgeFlag)(&f.Age), "ledger-keep-age", "remove closed ledger segments older than this, such as 720h or 30d; default $"+ledgerconfig.EnvKeepAge+", else never")
	cmd.Flags().Var((*term.BytesFlag)(&f.Bytes), "ledger-keep-bytes", "remove the oldest closed ledger segments above this total size, such as 500MB or 2GiB; default $"+ledgerconfig.EnvKeepBytes+", else never")
	cmd.Flags().BoolVar(&f.Compress, "ledger-compress", false, "compress closed ledger segments; default $"+ledgerconfig.EnvCompress)
}

// RegisterCheckpoints adds only --witness-copy, for commands that never remove segments.
func (f *KeepFlags) RegisterCheckpoints(cmd *cobra.Command) {
	WitnessCopyFlag(cmd, &f.WitnessCopy, "second file for checkpoints, or none; default $CANDOR_WITNESS_COPY, else a file in the state folder")
}

// Options returns the options for the ledger in dir. A flag replaces its variable, even with the value 0.
func (f *KeepFlags) Options(dir, instance string, getenv func(string) string, log *slog.Logger) (ledger.Options, error) {
	o, err := f.Keep.Options(dir, instance, func(name string) string {
		if flag, ok := keepFlags[name]; ok && f.cmd != nil && f.cmd.Flags().Changed(flag) {
			return ""
		}
		return getenv(name)
	}, log)
	if err != nil {
		return o, term.BadInput("correct the variable, or unset it", "%s", err)
	}
	return o, nil
}

// WitnessCopyFlag adds --witness-copy.
func WitnessCopyFlag(cmd *cobra.Command, file *string, usage string) {
	cmd.Flags().StringVar(file, "witness-copy", "", usage)
}

// Open opens the ledger and the counters. instance is the name of the writer in the ledger.
func (f *Flags) Open(ctx context.Context, env *term.Env, cmd *cobra.Command, instance string) (*Sinks, error) {
	env.BackgroundStderr(f.JSONLogs)
	p := &Sinks{Env: env, Cmd: cmd, Log: f.Logger(env.Err), JSON: f.JSONLogs}
	dir, at, err := Locate(f.Ledger, env.Getenv)
	if err != nil {
		return nil, BadLedger(err)
	}
	p.Dir = dir
	if p.Counts, err = OpenMeter(ctx, p.Dir, env.Getenv, p.Log); err != nil {
		return nil, err
	}
	p.startTelemetry(instance)
	options, err := f.Keep.Options(p.Dir, instance, env.Getenv, p.Log)
	if err != nil {
		return nil, err
	}
	if p.Ship, err = Ship(ctx, env, p.Dir, at, p.Log); err != nil {
		return nil, err
	}
	if p.Ship != nil {
		options = p.Ship.Options(options)
	}
	if p.Ledger, err = ledgerconfig.Ledger(p.Dir, options, p.Log); err != nil {
		_, _ = EndShipping(p.Ship, p.Dir) // nothing was written
		return nil, term.BadInput("name a folder that can be written with --ledger, or --ledger none", "%s", term.TrimHint(err))
	}
	if p.Ship != nil {
		p.Ship.RecordIn(p.Ledger)
	}
	return p, nil
}

// startTelemetry starts the export that the environment asks for, and makes the logger part of it. Every failure becomes a record
// there, and a line of JSON logs.
func (p *Sinks) startTelemetry(instance string) {
	transport := "tcp"
	if instance == "wrap" {
		transport = "pipe"
	}
	lines := p.Log
	p.Export, p.Log = StartExport(p.Env, transport, p.Counts, lines)
	if p.Export == nil && !p.JSON {
		return
	}
	p.seen = &telemetry.Observer{Export: p.Export}
	if p.JSON {
		p.seen.JSON = lines
	}
}

// OpenMeter returns the counters of a server. If the environment enables their export, they include the counts of earlier processes.
func OpenMeter(ctx context.Context, trail string, getenv func(string) string, log *slog.Logger) (*meter.Meter, error) {
	counts, err := ledgerconfig.Meter(ctx, trail, getenv, log)
	if err != nil {
		return nil, term.BadInput("see docs/meter.md", "%s", err)
	}
	if counts != nil {
		return counts, nil
	}
	return meter.New(meter.Options{})
}

// StartExport starts the export of telemetry that the environment asks for, and makes a logger part of it. The export is nil if there
// is nothing to start.
func StartExport(env *term.Env, transport string, counts *meter.Meter, log *slog.Logger) (*telemetry.Export, *slog.Logger) {
	export := telemetry.Start(telemetry.Options{
		Getenv: env.Getenv, Version: term.ReadBuildInfo().Version, Transport: transport, Counts: counts, Log: log,
	})
	if export == nil {
		return nil, log
	}
	return export, slog.New(export.Handler(log.Handler()))
}

// Logger returns a logger to w that follows the flags.
func (f *Flags) Logger(w io.Writer) *slog.Logger {
	options := &slog.HandlerOptions{Level: slog.LevelInfo}
	if f.Quiet {
		options.Level = slog.LevelWarn
	}
	if f.Level != nil {
		options.Level = f.Level
	}
	if f.JSONLogs {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}

// Attach sets meter, logger and ledger in the options of an upstream.
func (p *Sinks) Attach(o gateway.Options) gateway.Options {
	o.Meter, o.Logger = p.Counts, p.Log
	switch {
	case p.Calls != nil && p.seen != nil:
		o.Observer = telemetry.Observers{p.Calls, p.seen}
	case p.Calls != nil:
		o.Observer = p.Calls
	case p.seen != nil:
		o.Observer = p.seen
	}
	if p.Ledger != nil {
		o.Ledger = p.Ledger
	}
	return o
}

// Notice writes a line for the operator.
func (p *Sinks) Notice(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if p.JSON {
		p.Log.Info("notice", slog.String("text", text))
		return
	}
	p.Env.Notify(p.Cmd, text, "")
}

// Close exports the counters if the environment configures a file, closes the ledger, and ends the export of telemetry.
func (p *Sinks) Close() error {
	err := p.Counts.Close()
	if p.Ledger != nil {
		err = errors.Join(err, p.Ledger.Close())
	}
	left, failed := EndShipping(p.Ship, p.Dir)
	if err = errors.Join(err, failed); left != "" {
		p.Log.Warn("the ledger was not shipped completely", slog.String("waiting", left))
	}
	p.Export.Shutdown()
	if err != nil {
		return term.BadInput("run candor ledger verify", "closing the ledger: %s", term.Cause(err))
	}
	return nil
}

// Summary returns the last line of output: calls, failures with the most frequent codes, the ledger, and failures not recorded.
func (p *Sinks) Summary(calls uint64) string {
	s := p.Counts.Snapshot()
	text := plural.Of(calls, "call") + ", " + plural.Of(s.Total, "failure")
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

// ByServer returns the end of the summary of several servers: the three with the most failures. It is "" if fewer than
// two have failed.
func (p *Sinks) ByServer() string {
	const most = 3
	failures := p.Counts.Stats().ByServer
	if len(failures) < 2 {
		return ""
	}
	servers := slices.SortedFunc(maps.Keys(failures), func(a, b string) int {
		return cmp.Or(cmp.Compare(failures[b], failures[a]), cmp.Compare(a, b))
	})
	var words []string
	for _, s := range servers[:min(most, len(servers))] {
		words = append(words, fmt.Sprintf("%s %d", term.Printable(s), failures[s]))
	}
	if len(servers) > most {
		words = append(words, "…")
	}
	return "; by server: " + strings.Join(words, ", ")
}

// unrecorded describes the failures that could not be written to the ledger, or returns "".
func unrecorded(codes []meter.Series) string {
	lost := uint64(0)
	for _, c := range codes {
		lost += c.Count
	}
	if lost == 0 {
		return ""
	}
	return "; " + plural.Of(lost, "failure") + " NOT recorded (" + frequent(codes) + ")"
}

// frequent lists the three most frequent codes.
func frequent(codes []meter.Series) string {
	const most = 3
	slices.SortStableFunc(codes, func(a, b meter.Series) int { return cmp.Compare(b.Count, a.Count) })
	var words []string
	for _, c := range codes[:min(most, len(codes))] {
		words = append(words, fmt.Sprintf("%s %d", c.Code.Symbol(), c.Count))
	}
	if len(codes) > most {
		words = append(words, "…")
	}
	return strings.Join(words, ", ")
}

// LogLines is a writer that logs each line of a server's standard error.
type LogLines struct {
	Log  *slog.Logger
	Name func() string // returns the name of the server

	mu  sync.Mutex
	buf []byte // guarded by mu: an incomplete line
}

// maxLogLine is the length to which a line is truncated.
const maxLogLine = 8 << 10

// Write implements [io.Writer].
func (l *LogLines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for rest := p; len(rest) > 0; {
		end := bytes.IndexByte(rest, '\n')
		if end < 0 {
			l.append(rest)
			break
		}
		l.append(rest[:end])
		l.Log.Info("server wrote to standard error", slog.String("upstream", l.Name()), slog.String("line", string(l.buf)))
		l.buf, rest = l.buf[:0], rest[end+1:]
	}
	return len(p), nil
}

func (l *LogLines) append(text []byte) {
	l.buf = append(l.buf, text[:min(len(text), maxLogLine-len(l.buf))]...)
}

// BadFlag returns the error for a flag whose value package config could not parse.
func BadFlag(flag string, err error) *term.Error {
	if m, ok := errors.AsType[*config.Mistake](err); ok {
		return term.BadInput(m.Hint, "%s: %s", flag, m.Text)
	}
	return term.BadInput("", "%s: %s", flag, err)
}

// BadFile returns the error for a file that cannot be read or has mistakes. The text has a hint for each mistake.
func BadFile(flag string, err error) *term.Error {
	if inside, ok := errors.AsType[*config.Error](err); ok {
		return &term.Error{Code: term.ExitUsage, Text: inside.Error(), Cause: inside}
	}
	return term.BadInput("check the file name after "+flag, "%s", err)
}
