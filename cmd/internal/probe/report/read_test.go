package report_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/candor-mcp/candor/cmd/internal/probe/report"
	"github.com/candor-mcp/candor/internal/probe"
)

func TestJSONRoundTrip(t *testing.T) {
	r := sample(t)
	again, err := report.Read([]byte(write(t, report.FormatJSON, r, report.Options{})))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r, again); diff != "" {
		t.Error(diff)
	}
}

func TestReadErrorsNameTheProblem(t *testing.T) {
	for data, want := range map[string]string{
		``:                                      "JSON",
		`no`:                                    "JSON",
		`[]`:                                    "JSON",
		`null`:                                  "no version",
		`{}`:                                    "no version",
		`{"version":2,"tools":"else"}`:          "version 2",
		`{"version":1.5}`:                       "version 1.5",
		`{"version":"\u001b[2J"}`:               "JSON",
		`{"version":1,"tools":7}`:               "create it again",
		`{"version":1}{"version":1}`:            "one report",
		`{"version":1,"observations":[]}`:       "judge",
		strings.Repeat("[", 100_000):            "JSON",
		strings.Repeat(" ", report.MaxReport+1): "more than the maximum",
	} {
		_, err := report.Read([]byte(data))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "hint: ") || strings.ContainsRune(err.Error(), '\x1b') {
			t.Errorf("%.40q: %v, want %q and a hint", data, err, want)
		}
	}
}

var errFull = errors.New("the disk is full")

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func TestWriteReportsWriterErrors(t *testing.T) {
	for _, format := range report.Formats() {
		if err := report.Write(fullDisk{}, format, sample(t), report.Options{}); !errors.Is(err, errFull) {
			t.Errorf("%s: %v", format, err)
		}
	}
	for _, format := range report.DeltaFormats() {
		if err := report.WriteDelta(fullDisk{}, format, report.Diff(nil, sample(t)), report.Options{}); !errors.Is(err, errFull) {
			t.Errorf("comparison, %s: %v", format, err)
		}
	}
}

func TestUnknownFormatErrorListsFormats(t *testing.T) {
	for _, err := range []error{
		report.Write(nil, "pdf", &probe.Report{}, report.Options{}),
		report.WriteDelta(nil, "html", &report.Delta{}, report.Options{}),
	} {
		if err == nil || !strings.Contains(err.Error(), "text, json, markdown") {
			t.Errorf("%v", err)
		}
	}
	if report.Write(nil, report.FormatText, nil, report.Options{}) == nil || report.WriteDelta(nil, report.FormatText, nil, report.Options{}) == nil {
		t.Error("nothing was written")
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"version":1,"tools":[{"tool":"a","patterns":{"A":1}}],"findings":[{"rule":"EC001","tool":"a"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := report.Read(data)
		if err != nil {
			return
		}
		for _, format := range report.Formats() {
			write(t, format, r, report.Options{})
		}
		if d := report.Diff(r, r); d.Worse() || d.Better() {
			t.Errorf("a report differs from itself: %+v", d)
		}
	})
}
