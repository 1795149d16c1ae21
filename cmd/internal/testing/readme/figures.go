package readme

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"time"
)

// Figures are the measured costs of candor wrap. Latency and memory depend on the machine; Context does not.
type Figures struct {
	Machine     string  `json:"machine"`
	Calls       int     `json:"calls"`
	AloneMicros int     `json:"aloneMicros"` // median of a successful call, without candor wrap
	WrapMicros  int     `json:"wrapMicros"`  // the same through candor wrap
	WrapRSSKiB  int     `json:"wrapRSSKiB"`  // resident memory of candor wrap after the calls
	Context     Context `json:"context"`
}

// Figures reads the figures of the last measurement.
func (r Repository) Figures() (f Figures, err error) {
	data, err := os.ReadFile(r.path(figuresPath))
	if err != nil {
		return f, fmt.Errorf("reading the figures: %w", err)
	}
	if err := json.Unmarshal(data, &f); err != nil {
		return f, fmt.Errorf("reading %s: %w", figuresPath, err)
	}
	return f, nil
}

// Table returns the figures as a Markdown table.
func (f Figures) Table() string {
	return fmt.Sprintf(`| cost of `+"`candor wrap`"+` | measured |
|---|---|
| time | %.2f ms more for a call that succeeds: the median of %s calls is %.2f ms through it and %.2f ms without it (%s) |
| memory | %d MB resident |
| context | a failure gains a text of %d bytes in the median and %d bytes at the 90th percentile, over %s recorded failures of %d published servers; a success stays the same bytes |
`, ms(f.WrapMicros-f.AloneMicros), thousands(f.Calls), ms(f.WrapMicros), ms(f.AloneMicros), f.Machine,
		(f.WrapRSSKiB+512)/1024, f.Context.MedianBytes, f.Context.P90Bytes, thousands(f.Context.Failures), f.Context.Servers)
}

// thousands returns n with a comma before its last three digits.
func thousands(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}

func ms(micros int) float64 { return float64(micros) / 1000 }

// Measure measures the costs and writes them to the repository. Without recordings beside the checkout the context's figures are kept.
func (r Repository) Measure(ctx context.Context, calls int) error {
	old, err := r.Figures()
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	now := Figures{Machine: fmt.Sprintf("%s/%s, %d cores", runtime.GOOS, runtime.GOARCH, runtime.NumCPU()), Calls: calls, Context: old.Context}
	ledger, err := os.MkdirTemp("", "candor-readme-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(ledger) }()
	server := []string{r.Candor, "demo-server"}
	if now.AloneMicros, _, err = medianCall(ctx, server, calls); err != nil {
		return fmt.Errorf("measuring the server alone: %w", err)
	}
	wrapped := append([]string{r.Candor, "wrap", "--quiet", "--ledger", filepath.Join(ledger, "ledger"), "--"}, server...)
	if now.WrapMicros, now.WrapRSSKiB, err = medianCall(ctx, wrapped, calls); err != nil {
		return fmt.Errorf("measuring candor wrap: %w", err)
	}
	if c, err := MeasureContext(); err == nil {
		now.Context = c
	} else if !errors.Is(err, ErrNoRecordings) {
		return err
	}
	data, err := json.MarshalIndent(now, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(r.path(figuresPath), append(data, '\n'), 0o644) //nolint:gosec // a file of the repository, readable like the others
}

// medianCall returns the median time of a successful call in microseconds and the resident memory of the process in KiB.
func medianCall(ctx context.Context, command []string, calls int) (micros, kib int, err error) {
	s, err := openSession(ctx, command)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	times := make([]time.Duration, 0, calls)
	for range calls {
		began := time.Now()
		if _, err := s.call("search_orders", `{"query":"boots"}`); err != nil {
			return 0, 0, err
		}
		times = append(times, time.Since(began))
	}
	slices.Sort(times)
	return int(times[len(times)/2].Microseconds()), residentKiB(s.cmd.Process.Pid), nil
}

var rssLine = regexp.MustCompile(`(?m)^VmRSS:\s+(\d+) kB$`)

// residentKiB returns the resident memory of a process, or 0 on systems without /proc.
func residentKiB(pid int) int {
	status, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		return 0
	}
	m := rssLine.FindSubmatch(status)
	if m == nil {
		return 0
	}
	kib, err := strconv.Atoi(string(m[1]))
	if err != nil {
		return 0
	}
	return kib
}
