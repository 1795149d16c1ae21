package main

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

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/gateway/config"
	"github.com/candor-mcp/candor/cmd/internal/trail"
	"github.com/candor-mcp/candor/internal/plug"
	"github.com/candor-mcp/candor/ledger"
	"github.com/candor-mcp/candor/meter"
)

// plugs are what a gateway of either kind is plugged into: where it speaks, records and counts.
type plugs struct {
	w      *world
	cmd    *cobra.Command
	log    *slog.Logger
	json   bool // standard error is for programs
	dir    string
	trail  *ledger.Ledger // nil without a ledger
	counts *meter.Meter
}

// plugFlags are those that all gateways have.
type plugFlags struct {
	ledger   string
	keep     keepFlags
	jsonLogs bool
	quiet    bool
	level    *slog.LevelVar // of the log, for a command that can change it; nil follows quiet
}

func (f *plugFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.ledger, "ledger", "", "the ledger's folder, or none; default CANDOR_LEDGER, else the state folder")
	f.keep.register(cmd)
	cmd.Flags().BoolVar(&f.jsonLogs, "json-logs", false, "write each line on standard error as JSON")
	cmd.Flags().BoolVar(&f.quiet, "quiet", false, "say nothing at the end, and nothing but warnings before")
}

// plugIn opens the ledger and the counters. Instance names the writer in the ledger.
func (f *plugFlags) plugIn(ctx context.Context, w *world, cmd *cobra.Command, instance string) (*plugs, error) {
	w.serveMode(f.jsonLogs)
	p := &plugs{w: w, cmd: cmd, log: f.logger(w.err), json: f.jsonLogs}
	var err error
	if p.dir, err = plug.Folder(f.ledger, w.getenv); err != nil {
		return nil, bad("name a folder with --ledger, or --ledger none", "%s", withoutHint(err))
	}
	if p.counts, err = plug.Meter(ctx, p.dir, w.getenv, p.log); err != nil {
		return nil, bad("see docs/meter.md", "%s", err)
	}
	if p.counts == nil { // nobody asked for them, but the last line tells of them
		if p.counts, err = meter.New(meter.Options{}); err != nil {
			return nil, err
		}
	}
	if p.trail, err = plug.Ledger(p.dir, f.keep.Options(p.dir, instance, w.getenv, p.log), p.log); err != nil {
		return nil, bad("name a folder that can be written with --ledger, or --ledger none", "%s", withoutHint(err))
	}
	return p, nil
}

func (f *plugFlags) logger(to io.Writer) *slog.Logger {
	options := &slog.HandlerOptions{Level: slog.LevelInfo}
	if f.quiet {
		options.Level = slog.LevelWarn
	}
	if f.level != nil {
		options.Level = f.level
	}
	if f.jsonLogs {
		return slog.New(slog.NewJSONHandler(to, options))
	}
	return slog.New(slog.NewTextHandler(to, options))
}

// into plugs the options of an upstream in.
func (p *plugs) into(o gateway.Options) gateway.Options {
	o.Meter, o.Logger = p.counts, p.log
	if p.trail != nil {
		o.Ledger = trail.Of(p.trail)
	}
	return o
}

// say tells the operator something that is no failure.
func (p *plugs) say(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if p.json {
		p.log.Info("notice", slog.String("text", text))
		return
	}
	p.w.notify(p.cmd, text, "")
}

// close writes the counters where the environment wants them and closes the ledger.
func (p *plugs) close() error {
	err := p.counts.Close()
	if p.trail != nil {
		err = errors.Join(err, p.trail.Close())
	}
	if err != nil {
		return bad("candor ledger verify says what is on the disk", "closing the ledger: %s", behind(err))
	}
	return nil
}

// summary is the last line: calls, failures with the three most frequent codes, where they are recorded, and those that could not be.
func (p *plugs) summary(calls uint64) string {
	s := p.counts.Snapshot()
	text := count(calls, "call", "calls") + ", " + count(s.Total, "failure", "failures")
	if s.Suspected > 0 {
		text += fmt.Sprintf(", %d of them only suspected", s.Suspected)
	}
	if s.Total > 0 {
		text += " (" + frequent(s.Codes) + ")"
	}
	if p.trail == nil {
		return text + ", not recorded"
	}
	return text + ", recorded in " + p.dir + unrecorded(s.Unrecorded)
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
	return "; " + count(lost, "failure", "failures") + " NOT recorded (" + frequent(codes) + ")"
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

// logLines writes what a server prints line by line into the log, so that standard error stays JSON.
type logLines struct {
	log  *slog.Logger
	name string

	mu  sync.Mutex
	buf []byte // guarded by mu: a line that has not ended yet
}

// maxLogLine bounds a line of a server that never ends one.
const maxLogLine = 8 << 10

func (l *logLines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for rest := p; len(rest) > 0; {
		end := bytes.IndexByte(rest, '\n')
		if end < 0 {
			l.keep(rest)
			break
		}
		l.keep(rest[:end])
		l.log.Info("the server prints", slog.String("upstream", l.name), slog.String("line", string(l.buf)))
		l.buf, rest = l.buf[:0], rest[end+1:]
	}
	return len(p), nil
}

func (l *logLines) keep(text []byte) {
	l.buf = append(l.buf, text[:min(len(text), maxLogLine-len(l.buf))]...)
}

// badFlag is the fault of a flag whose value package config does not understand.
func badFlag(flag string, err error) *fault {
	if m, ok := errors.AsType[*config.Mistake](err); ok {
		return bad(m.Hint, "%s: %s", flag, m.Text)
	}
	return bad("", "%s: %s", flag, err)
}

// badFile is the fault of a file that cannot be read, or of what is in it: then every problem has its own hint.
func badFile(flag string, err error) *fault {
	if inside, ok := errors.AsType[*config.Error](err); ok {
		return &fault{code: exitBad, text: inside.Error(), cause: inside}
	}
	return bad("check the name that "+flag+" gives", "%s", err)
}
