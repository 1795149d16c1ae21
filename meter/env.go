package meter

import (
	"fmt"
	"strconv"
	"strings"
)

// The settings that [FromEnv] reads.
const (
	EnvMetrics = "MCP_ERROR_METRICS"        // whether to count
	EnvSample  = "MCP_ERROR_METRICS_SAMPLE" // how to thin the breakdowns; see [ParseSample]
	EnvFile    = "MCP_ERROR_METRICS_FILE"   // where the counters go on a graceful shutdown
)

// FromEnv reads the settings from the environment. on says whether counters were asked for at all; without it options are zero.
// A value that cannot be understood is an error that names the accepted ones, whether or not counters are on: a server with a
// mistyped setting should not start and seem to count.
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
			strconv.Quote(shorten(text)))
	}
}
