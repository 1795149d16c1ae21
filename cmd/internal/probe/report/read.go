package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/candor-mcp/candor/internal/probe"
)

// MaxReport is the maximum size of a report in bytes.
const MaxReport = 64 << 20

// Read parses a report that [Write] wrote as JSON. It fails for other data, for a report of a later version, and for more than [MaxReport]
// bytes. The report does not alias data.
func Read(data []byte) (*probe.Report, error) {
	if len(data) > MaxReport {
		return nil, fmt.Errorf("reading a report: %d bytes, more than the maximum of %d (hint: is this a report of candor probe --format json?)", len(data), MaxReport)
	}
	if err := checkVersion(data); err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	var r probe.Report
	if err := d.Decode(&r); err != nil {
		return nil, fmt.Errorf("reading a report: %w (hint: create it again with candor probe --format json)", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("reading a report: data after the report (hint: a file has one report)")
	}
	return &r, nil
}

// checkVersion checks the version first, so that a later format is reported as such and not as a type error.
func checkVersion(data []byte) error {
	var head struct {
		Version      *json.Number     `json:"version"`
		Observations *json.RawMessage `json:"observations"`
	}
	if err := json.NewDecoder(bytes.NewReader(data)).Decode(&head); err != nil {
		return fmt.Errorf("reading a report: %w (hint: it must be JSON as written by candor probe --format json)", err)
	}
	switch {
	case head.Observations != nil:
		return fmt.Errorf("reading a report: this is a recorded run, not a report (hint: judge it with candor probe --run FILE --format json)")
	case head.Version == nil:
		return fmt.Errorf("reading a report: no version (hint: is this a report of candor probe --format json?)")
	case head.Version.String() != fmt.Sprint(probe.ReportVersion):
		return fmt.Errorf("reading a report: version %s, want %d (hint: use the same release for both reports)",
			plain(head.Version.String()), probe.ReportVersion)
	}
	return nil
}
