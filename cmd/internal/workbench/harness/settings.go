package harness

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/line"
	"github.com/candor-mcp/candor/meter"
)

// The environment variables that configure the harness itself. The package of each domain documents its variables.
const (
	EnvServerName   = "MCP_SERVER_NAME"
	EnvDomains      = "MCP_DOMAINS"
	EnvMaxLine      = "MCP_MAX_LINE_LEN"
	EnvVerbose      = "MCP_ERRORS_VERBOSE"
	EnvRateLimit    = "MCP_RATE_LIMIT"
	EnvRateCapacity = "MCP_RATE_LIMIT_CAPACITY"
	EnvRateRefill   = "MCP_RATE_LIMIT_REFILL_MS"
	EnvRateMode     = "MCP_RATE_LIMIT_MODE"
	EnvHealthPort   = "MCP_HEALTH_PORT"
	EnvNode         = "NODE_ENV"
)

// Defaults and bounds of the settings.
const (
	minMaxLine          = 256
	maxMaxLine          = 64 << 20
	defaultRateCapacity = 30
	defaultRateRefill   = time.Minute
	maxRateCapacity     = 1_000_000
	maxServerName       = 128
)

// Settings configures the harness. Use [SettingsFromEnv]; the zero value has no limits.
type Settings struct {
	ServerName  string             // in the ready line, "" for none
	Domains     []string           // names of the enabled domains, in the order of [Names]
	MaxLine     int                // length in bytes of the longest line that is read
	Stack       candor.StackPolicy // which clients may see a stack
	Development bool               // clients see the text of causes

	Metrics bool          // whether sys/errorStats is enabled and the counters are exported at the end
	Meter   meter.Options // how failures are counted

	RateLimit line.RateLimit
	// HealthPort is the port of the health endpoint on loopback: 0 for any free port, -1 for no endpoint.
	HealthPort int
}

// SettingsFromEnv reads the settings. Its errors name the variable and its allowed values.
func SettingsFromEnv(getenv func(string) string) (s Settings, err error) {
	if s.Meter, s.Metrics, err = meter.FromEnv(getenv); err != nil {
		return Settings{}, err
	}
	if s.Stack, err = candor.ParseStackPolicy("", getenv(EnvVerbose)); err != nil {
		return Settings{}, err
	}
	if s.ServerName, err = parseServerName(getenv(EnvServerName)); err != nil {
		return Settings{}, err
	}
	if s.MaxLine, err = parseNumber(getenv, EnvMaxLine, line.DefaultMaxLine, minMaxLine, maxMaxLine); err != nil {
		return Settings{}, err
	}
	if s.HealthPort, err = parseNumber(getenv, EnvHealthPort, -1, 0, math.MaxUint16); err != nil {
		return Settings{}, err
	}
	if s.RateLimit, err = parseRateLimit(getenv); err != nil {
		return Settings{}, err
	}
	if s.Domains, err = ParseDomains(getenv(EnvDomains)); err != nil {
		return Settings{}, fmt.Errorf("%s: %w", EnvDomains, err)
	}
	// Other programs use NODE_ENV with other values; only "development" has a meaning here.
	s.Development = getenv(EnvNode) == "development"
	return s, nil
}

// parseRateLimit reads all four variables, so that an invalid one is found before the limit is enabled.
func parseRateLimit(getenv func(string) string) (r line.RateLimit, err error) {
	on, err := parseSwitch(getenv, EnvRateLimit)
	if err != nil {
		return line.RateLimit{}, err
	}
	if r.Capacity, err = parseNumber(getenv, EnvRateCapacity, defaultRateCapacity, 1, maxRateCapacity); err != nil {
		return line.RateLimit{}, err
	}
	refill, err := parseNumber(getenv, EnvRateRefill, int(defaultRateRefill.Milliseconds()), 1, int((24 * time.Hour).Milliseconds()))
	if err != nil {
		return line.RateLimit{}, err
	}
	r.Refill = time.Duration(refill) * time.Millisecond
	switch mode := getenv(EnvRateMode); mode {
	case "", "global":
	case "method":
		r.PerMethod = true
	default:
		return line.RateLimit{}, badValue(EnvRateMode, mode, "global or method")
	}
	if !on {
		return line.RateLimit{}, nil
	}
	return r, nil
}

func parseSwitch(getenv func(string) string, name string) (bool, error) {
	switch text := getenv(name); strings.ToLower(strings.TrimSpace(text)) {
	case "1", "true", "yes", "on":
		return true, nil
	case "", "0", "false", "no", "off":
		return false, nil
	default:
		return false, badValue(name, text, "1, true, yes or on, or 0, false, no, off or nothing")
	}
}

func parseNumber(getenv func(string) string, name string, unset, least, most int) (int, error) {
	text := getenv(name)
	if text == "" {
		return unset, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return 0, badValue(name, text, fmt.Sprintf("a whole number from %d to %d", least, most))
	}
	return n, nil
}

func parseServerName(text string) (string, error) {
	hidden := func(r rune) bool { return !unicode.IsPrint(r) }
	if len(text) > maxServerName || !utf8.ValidString(text) || strings.ContainsFunc(text, hidden) {
		return "", badValue(EnvServerName, text, fmt.Sprintf("at most %d bytes of printable text", maxServerName))
	}
	return text, nil
}

// badValue returns the error for a variable, with its allowed values.
func badValue(name, value, allowed string) error {
	const shown = 64
	if len(value) > shown {
		value = strings.ToValidUTF8(value[:shown], "") + "…"
	}
	return fmt.Errorf("%s is %q; allowed: %s", name, value, allowed)
}

// on reports whether a domain is enabled.
func (s *Settings) on(domain string) bool { return slices.Contains(s.Domains, domain) }
