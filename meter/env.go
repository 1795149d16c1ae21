package meter

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/candor-mcp/candor/internal/truncate"
)

// Environment variables that [FromEnv] reads.
const (
	EnvMetrics = "MCP_ERROR_METRICS"        // whether to count
	EnvSample  = "MCP_ERROR_METRICS_SAMPLE" // sampling of the breakdowns; see [ParseSample]
	EnvFile    = "MCP_ERROR_METRICS_FILE"   // file for the counters on a graceful shutdown
)

// FromEnv reads the options from the environment. on reports whether counters are enabled; if not, options is zero.
// An invalid value is an error that lists the valid ones, even if counters are disabled: a server with a
// mistyped setting must not start and appear to count.
func FromEnv(getenv func(string) string) (options Options, on bool, err error) {
	on, err = parseSwitch(getenv(EnvMetrics))
	if err != nil {
		return Options{}, false, fmt.Errorf("reading %s: %w", EnvMetrics, err)
	}
	sample, err := ParseSample(getenv(EnvSample))
	if err != nil {
		return Options{}, false, fmt.Errorf("%s: %w", EnvSample, err)
	}
	file := getenv(EnvFile)
	if err := checkFile(file); err != nil {
		return Options{}, false, fmt.Errorf("%s=%q: %w; want the path of a file in a folder that exists", EnvFile, file, err)
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
		return false, fmt.Errorf("%s is neither on nor off; hint: give 1, true, yes or on, or 0, false, no, off or nothing",
			strconv.Quote(truncate.Text(text, maxQuoted)))
	}
}
