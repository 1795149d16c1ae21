package harness

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/domain"
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
	maxMaxLine          = 16 << 20 // the limit of the JSON reader
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
	if s.Domains, err = ParseDomains(getenv(EnvDomains)); err != nil {
		return Settings{}, fmt.Errorf("%s: %w", EnvDomains, err)
	}
	v := domain.Variables{Getenv: getenv}
	s.ServerName = getenv(EnvServerName)
	if len(s.ServerName) > maxServerName || !utf8.ValidString(s.ServerName) || strings.ContainsFunc(s.ServerName, func(r rune) bool { return !unicode.IsPrint(r) }) {
		v.Fail(EnvServerName, fmt.Sprintf("at most %d bytes of printable text", maxServerName))
	}
	s.MaxLine = v.Number(EnvMaxLine, line.DefaultMaxLine, minMaxLine, maxMaxLine)
	s.HealthPort = v.Number(EnvHealthPort, -1, 0, math.MaxUint16)
	s.RateLimit = rateLimit(&v)
	// Other programs use NODE_ENV with other values; only "development" has a meaning here.
	s.Development = getenv(EnvNode) == "development"
	return s, v.Err
}

// rateLimit reads all four variables, so that an invalid one is found before the limit is enabled.
func rateLimit(v *domain.Variables) line.RateLimit {
	r := line.RateLimit{
		Capacity:  v.Number(EnvRateCapacity, defaultRateCapacity, 1, maxRateCapacity),
		Refill:    cmp.Or(v.Milliseconds(EnvRateRefill, 1, int((24*time.Hour).Milliseconds())), defaultRateRefill),
		PerMethod: v.OneOf(EnvRateMode, "global", "method") == "method",
	}
	switch strings.ToLower(strings.TrimSpace(v.Getenv(EnvRateLimit))) {
	case "1", "true", "yes", "on":
		return r
	case "", "0", "false", "no", "off":
	default:
		v.Fail(EnvRateLimit, "1, true, yes or on, or 0, false, no, off or nothing")
	}
	return line.RateLimit{}
}

// on reports whether a domain is enabled.
func (s *Settings) on(domain string) bool { return slices.Contains(s.Domains, domain) }
