// Package export writes the entries of a ledger in other formats, and counts them.
//
// # How do I export entries?
//
// Open a [ledger.Reader], choose entries with [ledger.ReadOptions], and pass them to [Write] with a format of [Formats]. Memory use does not
// depend on the number of entries. Only the format "jsonl" keeps what is needed to verify the entries.
//
// # How do I count failures?
//
// [Count] counts the failures of a ledger by code, tool, domain, class or hour.
package export

import (
	"encoding/csv"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"

	"github.com/candor-mcp/candor/internal/segment/format"
	"github.com/candor-mcp/candor/ledger"
)

// The export formats.
const (
	formatJSONL = "jsonl"     // the unchanged lines, which can still be verified
	formatCSV   = "csv"       // one row per entry, without the long texts
	formatOTLP  = "otlp-json" // OpenTelemetry logs, one LogsData per line
)

// Formats returns the names of all formats.
func Formats() []string { return []string{formatJSONL, formatCSV, formatOTLP} }

// Write writes entries in a format and returns how many it wrote. It holds at most one batch in memory.
func Write(w io.Writer, format string, entries iter.Seq2[*ledger.Line, error]) (count int, err error) {
	var out exporter
	switch format {
	case formatJSONL:
		out = jsonlExport{w}
	case formatCSV:
		rows := csv.NewWriter(w)
		if err := rows.Write(csvColumns); err != nil {
			return 0, err
		}
		out = csvExport{rows}
	case formatOTLP:
		out = &otlpExport{w: w}
	default:
		return 0, fmt.Errorf("unknown format %q", format)
	}
	for line, err := range entries {
		if err != nil {
			return count, err
		}
		if err := out.add(line); err != nil {
			return count, err
		}
		count++
	}
	return count, out.end()
}

// exporter writes one format.
type exporter interface {
	add(l *ledger.Line) error
	end() error
}

type jsonlExport struct{ w io.Writer }

func (e jsonlExport) add(l *ledger.Line) error {
	_, err := fmt.Fprintf(e.w, "%s\n", l.Raw())
	return err
}

func (e jsonlExport) end() error { return nil }

type csvExport struct{ out *csv.Writer }

var csvColumns = []string{
	"chain", "seq", "time", "kind", "ref", "call", "tool", "code", "domain", "number", "class", "retry", "session_id", "role", "plan_hash", "phase_id",
	"invariant_id", "outcome", "attempt", "latency_us", "cause", "hash", "server", // new columns are added at the end, for readers that count
}

func (e csvExport) add(l *ledger.Line) error {
	r, err := l.Record()
	if err != nil {
		return err
	}
	retry := ""
	if r.Retry != nil {
		retry = r.Retry.String()
	}
	row := []string{
		r.Chain, strconv.FormatUint(r.Seq, 10), r.Time.Format(format.TimeLayout), string(r.Kind), r.Ref, r.Call, r.Tool, r.Code, r.Domain, orNone(int64(r.Number)),
		string(r.Class), retry, r.SessionID, r.Role, r.PlanHash, r.PhaseID, r.InvariantID, string(r.Outcome), orNone(int64(r.Attempt)), orNone(r.LatencyUS),
		r.Cause, r.Hash, serverOf(&r),
	}
	for i, cell := range row {
		row[i] = unformula(cell)
	}
	return e.out.Write(row)
}

func (e csvExport) end() error {
	e.out.Flush()
	return e.out.Error()
}

// serverOf returns the server that an entry is about, or "" if the entry is about the ledger itself.
func serverOf(r *ledger.Record) string {
	if r.Kind == ledger.KindSetting || r.Kind == ledger.KindCheckpoint {
		return ""
	}
	return r.Server()
}

// unformula prevents spreadsheets from evaluating a cell as a formula.
func unformula(cell string) string {
	if cell != "" && strings.ContainsRune("=+-@\t\r", rune(cell[0])) {
		return "'" + cell
	}
	return cell
}

func orNone(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}
