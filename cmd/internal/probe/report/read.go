package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/candor-mcp/candor/cmd/internal/probe"
)

// MaxReport is the size of the largest report that [Read] takes, in bytes.
const MaxReport = 64 << 20

// Read takes a report that [Write] wrote as JSON. It fails for anything else, for a report of a later version, and for more than
// [MaxReport] bytes, and then says what the file is and what to do. The report keeps nothing of data.
func Read(data []byte) (*probe.Report, error) {
	if len(data) > MaxReport {
		return nil, fmt.Errorf("reading a report: %d bytes, and at most %d are read; hint: is this a report of candor probe --format json?", len(data), MaxReport)
	}
	if err := checkVersion(data); err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	var r probe.Report
	if err := d.Decode(&r); err != nil {
		return nil, fmt.Errorf("reading a report: %w; hint: write it anew with candor probe --format json", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("reading a report: something follows it; hint: one file holds one report")
	}
	return &r, nil
}

// checkVersion looks at the version before anything else, so that a later form is told as such and not as a type that does not fit.
func checkVersion(data []byte) error {
	var head struct {
		Version      *json.Number     `json:"version"`
		Observations *json.RawMessage `json:"observations"`
	}
	if err := json.NewDecoder(bytes.NewReader(data)).Decode(&head); err != nil {
		return fmt.Errorf("reading a report: %w; hint: it must be JSON as candor probe --format json writes it", err)
	}
	switch {
	case head.Observations != nil:
		return fmt.Errorf("reading a report: this is a run that nobody has judged yet; hint: judge it first")
	case head.Version == nil:
		return fmt.Errorf("reading a report: it has no version; hint: is this a report of candor probe --format json?")
	case head.Version.String() != fmt.Sprint(probe.ReportVersion):
		return fmt.Errorf("reading a report: it is of version %s, and this program reads version %d; hint: use the same release for both reports",
			plain(head.Version.String()), probe.ReportVersion)
	}
	return nil
}
