package meter

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/candor-mcp/candor/internal/durable"
	"github.com/candor-mcp/candor/internal/truncate"
)

// Close writes [Meter.Stats] as one line of JSON to [Options.File], if it is set: after a crash the old or the new file exists, and only the
// owner can read it. Call it last on a graceful shutdown. The meter remains usable, and
// a later Close writes the file again.
func (m *Meter) Close() error {
	if m == nil || m.options.File == "" {
		return nil
	}
	folder, name := filepath.Split(m.options.File)
	root, err := os.OpenRoot(filepath.Clean(folder))
	if err != nil {
		return fmt.Errorf("writing counters: %w", err)
	}
	defer root.Close() //nolint:errcheck // nothing was written through it that its files did not sync
	if err := durable.WriteFile(root, name, append(m.AppendStats(nil), '\n'), 0o600); err != nil {
		return fmt.Errorf("writing counters to %s: %w", name, err)
	}
	return nil
}

// checkFile returns an error if the counters cannot be written to path: its folder must exist, and the file must be regular or not exist.
// The empty path means no file.
func checkFile(path string) error {
	if path == "" {
		return nil
	}
	folder := filepath.Dir(path)
	info, err := os.Stat(folder)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a folder", filepath.Base(folder))
	}
	if info, err = os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file", filepath.Base(path))
	}
	return nil
}

// Environment variables that [FromEnv] reads.
const (
	envMetrics = "MCP_ERROR_METRICS"        // whether to count
	envSample  = "MCP_ERROR_METRICS_SAMPLE" // sampling of the breakdowns
	envFile    = "MCP_ERROR_METRICS_FILE"   // file for the counters on a graceful shutdown
)

// FromEnv reads the options from the environment. on reports whether counters are enabled; if not, options is zero.
// An invalid value is an error that lists the valid ones, even if counters are disabled: a server with a
// mistyped setting must not start and appear to count.
func FromEnv(getenv func(string) string) (options Options, on bool, err error) {
	on, err = parseSwitch(getenv(envMetrics))
	if err != nil {
		return Options{}, false, fmt.Errorf("reading %s: %w", envMetrics, err)
	}
	sample, err := parseSample(getenv(envSample))
	if err != nil {
		return Options{}, false, fmt.Errorf("%s: %w", envSample, err)
	}
	file := getenv(envFile)
	if err := checkFile(file); err != nil {
		return Options{}, false, fmt.Errorf("%s=%q: %w; want the path of a file in a folder that exists", envFile, file, err)
	}
	if !on {
		return Options{}, false, nil
	}
	return Options{Sample: sample, File: file}, true, nil
}

func parseSwitch(text string) (bool, error) {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "1", "true", "yes", "on":
		return true, nil
	case "", "0", "false", "no", "off":
		return false, nil
	default:
		return false, fmt.Errorf("%s is not on or off; hint: give 1, true, yes or on, or 0, false, no, off or nothing",
			strconv.Quote(truncate.Text(text, maxQuoted)))
	}
}
