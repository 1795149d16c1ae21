// Package parquetfile writes entries of a ledger as Parquet files for analysis.
package parquetfile

import (
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/ledger"
)

// Format is the name of the format in the commands.
const Format = "parquet"

// A row group is held in memory until it is complete, so both limits bound the memory of an export.
const (
	maxGroupRows  = 64 << 10
	maxGroupBytes = 16 << 20 // of the lines, which are larger than their columns
)

// Row is one entry. An empty text and a number that was not recorded are null.
type Row struct {
	Node         string    `parquet:"node,dict,optional"`
	Chain        string    `parquet:"chain,dict"`
	Seq          uint64    `parquet:"seq,delta"`
	Time         time.Time `parquet:"time,timestamp(microsecond:utc),delta"`
	Kind         string    `parquet:"kind,dict"`
	Ref          string    `parquet:"ref,optional"`
	Call         string    `parquet:"call,optional"`
	Server       string    `parquet:"server,dict,optional"`
	Tool         string    `parquet:"tool,dict,optional"`
	Code         string    `parquet:"code,dict,optional"`
	Domain       string    `parquet:"domain,dict,optional"`
	Number       int64     `parquet:"number,optional"`
	Class        string    `parquet:"class,dict,optional"`
	Origin       string    `parquet:"origin,dict,optional"`
	Inferred     *bool     `parquet:"origin_inferred,optional"`
	Retry        string    `parquet:"retry,dict,optional"`
	RetryAfterMS *int64    `parquet:"retry_after_ms,optional"`
	Outcome      string    `parquet:"outcome,dict,optional"`
	Attempt      int64     `parquet:"attempt,optional"`
	LatencyUS    int64     `parquet:"latency_us,optional"`
	Session      string    `parquet:"session,dict,optional"`
	Role         string    `parquet:"role,dict,optional"`
	PlanHash     string    `parquet:"plan_hash,dict,optional"`
	PhaseID      string    `parquet:"phase_id,dict,optional"`
	InvariantID  string    `parquet:"invariant_id,dict,optional"`
	ArgsBytes    *int64    `parquet:"args_bytes,optional"`
	Cause        string    `parquet:"cause,optional"`
	Bytes        int64     `parquet:"bytes"` // of the line in the ledger
	Hash         [32]byte  `parquet:"hash"`
}

// Write writes entries as a Parquet file, compressed with zstd. Its memory does not depend on the number of entries.
func Write(w io.Writer, entries iter.Seq2[term.ExportLine, error]) error {
	info := term.ReadBuildInfo()
	out := &writer{to: parquet.NewGenericWriter[Row](w,
		parquet.Compression(&parquet.Zstd),
		parquet.CreatedBy("candor", info.Version, info.Revision),
		parquet.PageBufferSize(256<<10),
		// Minimum and maximum of these columns would be stored in the footer, and help no query.
		parquet.SkipPageBounds("hash"), parquet.SkipPageBounds("ref"), parquet.SkipPageBounds("call"), parquet.SkipPageBounds("cause"),
	)}
	for entry, err := range entries {
		if err == nil {
			err = out.add(entry)
		}
		if err != nil {
			return err
		}
	}
	if err := out.to.Close(); err != nil {
		return fmt.Errorf("ending the Parquet file: %w", err)
	}
	return nil
}

// writer ends a row group when it reaches one of the limits.
type writer struct {
	to          *parquet.GenericWriter[Row]
	rows, bytes int
}

func (w *writer) add(entry term.ExportLine) error {
	row, err := rowOf(entry)
	if err != nil {
		return err
	}
	if _, err := w.to.Write([]Row{row}); err != nil {
		return fmt.Errorf("writing a row: %w", err)
	}
	w.rows++
	w.bytes += len(entry.Line.Raw())
	if w.rows < maxGroupRows && w.bytes < maxGroupBytes {
		return nil
	}
	w.rows, w.bytes = 0, 0
	if err := w.to.Flush(); err != nil {
		return fmt.Errorf("writing a row group: %w", err)
	}
	return nil
}

// rowOf decodes an entry.
func rowOf(entry term.ExportLine) (Row, error) {
	r, err := entry.Line.Record()
	if err != nil {
		return Row{}, fmt.Errorf("decoding entry %d of chain %s: %w", entry.Line.Seq, entry.Line.Chain(), err)
	}
	row := Row{
		Node: entry.Node, Chain: r.Chain, Seq: r.Seq, Time: r.Time.UTC(), Kind: string(r.Kind), Ref: r.Ref, Call: r.Call,
		Tool: r.Tool, Code: r.Code, Domain: r.Domain, Number: int64(r.Number), Class: string(r.Class),
		Outcome: string(r.Outcome), Attempt: int64(r.Attempt), LatencyUS: r.LatencyUS, Session: r.SessionID, Role: r.Role,
		PlanHash: r.PlanHash, PhaseID: r.PhaseID, InvariantID: r.InvariantID, Cause: r.Cause,
		Bytes: int64(len(entry.Line.Raw())), Hash: entry.Line.Hash,
	}
	addOptional(&row, &r)
	return row, nil
}

// addOptional sets the columns of members that a record may lack and whose zero value means something else.
func addOptional(row *Row, r *ledger.Record) {
	if r.Kind != ledger.KindSetting && r.Kind != ledger.KindCheckpoint { // these are about the ledger itself
		row.Server = r.Server()
	}
	if r.Origin != nil {
		row.Origin, row.Inferred = string(r.Origin.By), &r.Origin.Inferred
	}
	if r.Retry != nil {
		row.Retry = string(r.Retry.Kind())
		if after := r.Retry.AfterMs(); after > 0 {
			row.RetryAfterMS = &after
		}
	}
	if r.Args != nil {
		row.ArgsBytes = &r.Args.Bytes
	}
}
