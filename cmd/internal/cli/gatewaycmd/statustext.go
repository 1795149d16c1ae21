package gatewaycmd

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/fleet/ship"
	"github.com/candor-mcp/candor/internal/plural"
)

// writeStatus writes a status for people: a table of all upstreams, then details of each.
func writeStatus(env *term.Env, s *GatewayStatus, now time.Time) {
	p := env.Colors()
	if s.Draining {
		fmt.Fprintln(env.Out, p.Warn("draining"))
	}
	if problem := s.Config.Problem; problem != nil {
		fmt.Fprintln(env.Out, p.Bad("the configuration of "+ago(now, s.Config.Loaded)+" is in use, because the file has a mistake: "+term.Printable(problem.Text)))
	}
	rows := [][]string{{"UPSTREAM", "BREAKER", "CALLS", "FAILED", "MASKED", "SUSPECTED", "WASTED", "P50", "P90", "P99", "LAST SUCCESS"}}
	for _, u := range s.Upstreams {
		rows = append(rows, healthRow(u, now))
	}
	writeTable(env, rows, func(row, column int, cell string) string {
		switch {
		case row == 0:
			return p.Faint(cell)
		case column == 0:
			return p.Name(cell)
		case column == 1 && s.Upstreams[row-1].Health.Breaker.Open > 0:
			return p.Bad(cell)
		default:
			return cell
		}
	})
	for _, u := range s.Upstreams {
		fmt.Fprintf(env.Out, "\n%s %s\n", p.Name("/"+term.Printable(u.Name)+"/"), strings.Join(u.words(), ", "))
		for _, line := range u.details(now) {
			fmt.Fprintf(env.Out, "  %s\n", line)
		}
	}
	if l := s.Ledger; l != nil && l.Unrecorded > 0 {
		fmt.Fprintf(env.Out, "\n%s\n", p.Bad("the ledger in "+term.Printable(l.Folder)+" did not record "+plural.Count(l.Unrecorded, "entry", "entries")))
	}
	if s.Ledger != nil && s.Ledger.Shipping != nil {
		writeShipping(env, p, s.Ledger.Shipping)
	}
}

// writeShipping writes how far the ledger is shipped, and what is wrong with that.
func writeShipping(env *term.Env, p term.Colors, s *ship.Stats) {
	fmt.Fprintf(env.Out, "\nshipped to %s as node %s, ack=%s: %s, %s (%d bytes)\n", term.Printable(s.Store), term.Printable(s.Node), s.Mode,
		plural.Count(s.Shipped, "entry", "entries"), plural.Count(s.Waiting, "waits", "wait"), s.Bytes)
	if s.Error != "" {
		fmt.Fprintf(env.Out, "  %s\n", p.Bad("the store cannot be reached: "+term.Printable(s.Error)))
	}
	if s.Full {
		fmt.Fprintf(env.Out, "  %s\n", p.Bad("the backlog is full, and calls whose failure cannot be recorded are refused"))
	}
	if s.Lost > 0 {
		fmt.Fprintf(env.Out, "  %s\n", p.Bad("the store lost "+plural.Count(s.Lost, "entry", "entries")+" that it had acknowledged"))
	}
	for _, chain := range slices.Sorted(maps.Keys(s.Problems)) {
		fmt.Fprintf(env.Out, "  %s\n", p.Bad("chain "+term.Printable(chain)+" is not shipped: "+term.Printable(s.Problems[chain])))
	}
}

// writeTable writes rows of cells in columns of equal width.
func writeTable(env *term.Env, rows [][]string, color func(row, column int, cell string) string) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for r, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			if i < len(row)-1 {
				cell = term.Pad(cell, widths[i]+2)
			}
			line.WriteString(color(r, i, cell))
		}
		fmt.Fprintln(env.Out, line.String())
	}
}

// healthRow returns the row of an upstream in the table.
func healthRow(u upstreamStatus, now time.Time) []string {
	h := &u.Health
	row := []string{
		term.Printable(u.Name), term.Printable(h.Breaker.State), fmt.Sprint(h.Calls), withShare(h.FailedCalls, h.FailureShare), withShare(h.Masked, h.MaskedShare),
		withShare(h.Suspected, h.SuspectedShare), fmt.Sprint(h.WastedRetries), "-", "-", "-", "-",
	}
	if h.Breaker.Open > 0 {
		row[1] += " " + strings.TrimSuffix(ago(now, h.Breaker.Since), " ago")
	}
	if h.Recent.Calls > 0 {
		row[7], row[8], row[9] = latencyWords(h.Recent.P50), latencyWords(h.Recent.P90), latencyWords(h.Recent.P99)
	}
	if h.LastSuccess != nil {
		row[10] = ago(now, *h.LastSuccess)
	}
	return row
}

// withShare formats a number of calls with their share.
func withShare(n uint64, share float64) string {
	if n == 0 {
		return "0"
	}
	return fmt.Sprintf("%d (%.3g %%)", n, 100*share)
}

// latencyWords formats milliseconds with three digits.
func latencyWords(ms float64) string {
	switch {
	case ms >= 10_000:
		return time.Duration(ms * float64(time.Millisecond)).Round(100 * time.Millisecond).String()
	case ms >= 100:
		return fmt.Sprintf("%.0f ms", ms)
	default:
		return fmt.Sprintf("%.3g ms", ms)
	}
}

// ago formats the time since then.
func ago(now, then time.Time) string {
	d := max(0, now.Sub(then))
	switch {
	case d < time.Minute:
		return d.Truncate(time.Second).String() + " ago"
	case d < 48*time.Hour:
		return strings.TrimSuffix(d.Truncate(time.Minute).String(), "0s") + " ago"
	default:
		return fmt.Sprintf("%d days ago", int(d/(24*time.Hour)))
	}
}

// words describes the settings and the server of an upstream.
func (u *upstreamStatus) words() []string {
	var words []string
	if s := u.Health.Server; s.Name != "" || s.Version != "" {
		words = append(words, term.Printable(strings.TrimSpace(s.Name+" "+s.Version)))
	}
	if u.Health.Server.Protocol != "" {
		words = append(words, "MCP "+term.Printable(u.Health.Server.Protocol))
	}
	return append(words, term.Printable(string(u.Mode)), "validation "+term.Printable(string(u.Validate)), plural.Of(u.Health.Calls, "call"),
		fmt.Sprintf("%d open", u.Health.Open), plural.Of(u.Health.Late, "late response"))
}

// details returns lines about what happened to an upstream.
func (u *upstreamStatus) details(now time.Time) []string {
	var lines []string
	h := &u.Health
	if b := h.Breaker; b.Open > 0 || b.Opened > 0 {
		line := "breaker " + term.Printable(b.State) + " since " + ago(now, b.Since) + ", opened " + plural.Of(b.Opened, "time")
		if b.Trial != nil && b.Trial.After(now) {
			line += ", next trial in " + b.Trial.Sub(now).Truncate(time.Second).String()
		}
		lines = append(lines, line)
	}
	if p := h.Process; p != nil {
		line := fmt.Sprintf("%d running, %s, %s", p.Running, plural.Of(p.Starts, "start"), plural.Of(p.Restarts, "restart"))
		if p.LastExit != nil {
			line += ", last exit " + ago(now, p.LastExit.Time) + ": " + term.Printable(p.LastExit.Status)
		}
		lines = append(lines, line)
	}
	if f := h.LastFailure; f != nil {
		line := "last failure " + ago(now, f.Time) + ": " + term.Printable(f.Code)
		if f.Tool != "" {
			line += " of " + term.Printable(f.Tool)
		}
		lines = append(lines, line+", ref "+term.Printable(f.Ref))
	}
	return lines
}
