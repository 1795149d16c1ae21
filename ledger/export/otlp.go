package export

import (
	"encoding/json"
	"io"
	"strconv"

	"github.com/candor-mcp/candor/ledger"
)

// otlpBatch is the maximum number of records in one LogsData.
const otlpBatch = 100

// otlpExport writes OpenTelemetry logs as JSON, one LogsData per line, as OpenTelemetry's file exporter does.
type otlpExport struct {
	w       io.Writer
	records []otlpRecord
}

type otlpRecord struct {
	TimeUnixNano   string     `json:"timeUnixNano"`
	SeverityNumber int        `json:"severityNumber"`
	SeverityText   string     `json:"severityText"`
	Body           otlpText   `json:"body"`
	Attributes     []otlpAttr `json:"attributes"`
}

type otlpText struct {
	StringValue string `json:"stringValue"`
}

type otlpAttr struct {
	Key   string `json:"key"`
	Value any    `json:"value"`
}

func (e *otlpExport) add(l *ledger.Line) error {
	r, err := l.Record()
	if err != nil {
		return err
	}
	record := otlpRecord{TimeUnixNano: strconv.FormatInt(r.Time.UnixNano(), 10), SeverityNumber: 9, SeverityText: "INFO", Body: otlpText{string(r.Kind)}}
	if r.Kind == ledger.KindFailure {
		record.SeverityNumber, record.SeverityText, record.Body = 17, "ERROR", otlpText{r.Code}
	}
	text := func(key, value string) {
		if value != "" {
			record.Attributes = append(record.Attributes, otlpAttr{key, otlpText{value}})
		}
	}
	number := func(key string, n int64) {
		if n != 0 {
			record.Attributes = append(record.Attributes, otlpAttr{key, map[string]string{"intValue": strconv.FormatInt(n, 10)}})
		}
	}
	text("candor.chain", r.Chain)
	number("candor.seq", int64(r.Seq)) //nolint:gosec // at most 18 digits
	text("candor.kind", string(r.Kind))
	text("candor.ref", r.Ref)
	text("candor.call", r.Call)
	text("candor.server", serverOf(&r))
	text("candor.tool", r.Tool)
	text("candor.code", r.Code)
	text("candor.domain", r.Domain)
	number("candor.number", int64(r.Number))
	text("candor.class", string(r.Class))
	text("candor.outcome", string(r.Outcome))
	text("session.id", r.SessionID)
	number("candor.attempt", int64(r.Attempt))
	number("candor.latency_us", r.LatencyUS)
	text("candor.cause", r.Cause)
	text("candor.hash", r.Hash)
	if e.records = append(e.records, record); len(e.records) == otlpBatch {
		return e.end()
	}
	return nil
}

func (e *otlpExport) end() error {
	if len(e.records) == 0 {
		return nil
	}
	scope := map[string]any{"scope": map[string]string{"name": "github.com/candor-mcp/candor/ledger"}, "logRecords": e.records}
	resource := map[string]any{
		"resource":  map[string]any{"attributes": []otlpAttr{{"service.name", otlpText{"candor"}}}},
		"scopeLogs": []any{scope},
	}
	e.records = e.records[:0]
	return json.NewEncoder(e.w).Encode(map[string]any{"resourceLogs": []any{resource}})
}
