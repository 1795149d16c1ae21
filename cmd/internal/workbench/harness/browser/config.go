package browser

import (
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/netpolicy"
)

// The environment variables that configure the domains.
const (
	EnvPath        = "MCP_BROWSER_PATH"
	EnvAllow       = "MCP_BROWSER_ALLOW"
	EnvMaxSessions = "MCP_BROWSER_MAX_SESSIONS"
	EnvTimeout     = "MCP_BROWSER_TIMEOUT_MS"
	EnvIdle        = "MCP_BROWSER_IDLE_MS"
	EnvMemory      = "MCP_BROWSER_MAX_MEMORY_MB"
	EnvTraffic     = "MCP_BROWSER_MAX_TRAFFIC_MB"
)

// minMemory is the minimum of MaxMemory, in MiB. A Chromium with a small page uses about half of it.
const minMemory = 512

// The names of the domains.
const (
	Playwright = "playwright"
	Puppeteer  = "puppeteer"
)

// Config configures a domain. Zero values select the defaults.
type Config struct {
	// Name is the name of the domain; the default is [Playwright].
	Name string
	// Path is the Chromium to use. If it is empty, each launch looks for the usual names in PATH.
	Path string
	// Policy decides which addresses pages may be loaded from.
	Policy netpolicy.Policy
	// Resolver looks up host names; nil uses the system.
	Resolver netpolicy.Resolver

	MaxSessions int           // open at the same time, by default 3
	Timeout     time.Duration // of a call, and the longest a caller may ask for, by default 30 s
	Idle        time.Duration // after which a session without calls is closed, by default 5 minutes
	MaxMemory   int64         // bytes that all processes of a session hold together, by default 2 GiB
	MaxTraffic  int64         // bytes that a session may receive between two navigations, by default 64 MiB

	// Guard is the command line that runs the guard of this program, see internal/guard. Without it, and on systems
	// other than Linux, processes of Chromium may outlive this one.
	Guard []string
	// Logger receives warnings; nil discards them.
	Logger *slog.Logger
}

// ConfigFromEnv reads a Config from environment variables. Its errors name the variable and its allowed values.
func ConfigFromEnv(getenv func(string) string) (Config, error) {
	c := Config{Path: getenv(EnvPath)}
	var err error
	if c.Policy, err = netpolicy.Parse(getenv(EnvAllow)); err != nil {
		return Config{}, fmt.Errorf("%s: %w; want a list of host:port, IP addresses and CIDR prefixes", EnvAllow, err)
	}
	var number [5]int64
	for i, v := range []struct {
		name        string
		least, most int64
	}{
		{EnvMaxSessions, 1, 64}, {EnvTimeout, 100, 600_000}, {EnvIdle, 1000, 86_400_000}, {EnvMemory, minMemory, 65_536}, {EnvTraffic, 1, 65_536},
	} {
		if number[i], err = parseNumber(v.name, getenv(v.name), v.least, v.most); err != nil {
			return Config{}, err
		}
	}
	c.MaxSessions = int(number[0])
	c.Timeout, c.Idle = time.Duration(number[1])*time.Millisecond, time.Duration(number[2])*time.Millisecond
	c.MaxMemory, c.MaxTraffic = number[3]<<20, number[4]<<20
	return c, nil
}

// parseNumber returns 0 for an unset variable.
func parseNumber(name, text string, least, most int64) (int64, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("%s: %q is not a number from %d to %d", name, text, least, most)
	}
	return n, nil
}

// withDefaults replaces zero values.
func (c Config) withDefaults() Config {
	if c.Name == "" {
		c.Name = Playwright
	}
	if c.MaxSessions <= 0 {
		c.MaxSessions = 3
	}
	if c.Timeout <= 0 {
		c.Timeout = 30 * time.Second
	}
	if c.Idle <= 0 {
		c.Idle = 5 * time.Minute
	}
	if c.MaxMemory <= 0 {
		c.MaxMemory = 2 << 30
	}
	if c.MaxTraffic <= 0 {
		c.MaxTraffic = 64 << 20
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}
