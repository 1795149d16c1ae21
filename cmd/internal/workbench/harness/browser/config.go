package browser

import (
	"cmp"
	"fmt"
	"log/slog"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/netpolicy"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/domain"
)

// The environment variables that configure the domains.
const (
	EnvPath        = "MCP_BROWSER_PATH"
	EnvAllow       = "MCP_BROWSER_ALLOW"
	EnvMaxSessions = "MCP_BROWSER_MAX_SESSIONS"
	EnvTimeout     = "MCP_BROWSER_TIMEOUT_MS"
	EnvIdle        = "MCP_BROWSER_IDLE_MS"
)

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

	MaxSessions int           // open at the same time, by default 3
	Timeout     time.Duration // of a call, and the longest a caller may ask for, by default 30 s
	Idle        time.Duration // after which a session without calls is closed, by default 5 minutes

	// Logger receives warnings; nil discards them.
	Logger *slog.Logger
}

// configFromEnv reads a Config from environment variables.
func configFromEnv(env domain.Environment) (Config, error) {
	v := domain.Variables{Getenv: env.Getenv}
	c := Config{
		Path:        env.Getenv(EnvPath),
		MaxSessions: v.Number(EnvMaxSessions, 0, 1, 64),
		Timeout:     v.Milliseconds(EnvTimeout, 100, 600_000),
		Idle:        v.Milliseconds(EnvIdle, 1000, 86_400_000),
		Logger:      env.Logger,
	}
	var err error
	if c.Policy, err = netpolicy.Parse(env.Getenv(EnvAllow)); err != nil {
		return Config{}, fmt.Errorf("%s: %w; want a list of host:port, IP addresses and CIDR prefixes", EnvAllow, err)
	}
	return c, v.Err
}

// withDefaults replaces zero values.
func (c Config) withDefaults() Config {
	c.Name = cmp.Or(c.Name, Playwright)
	c.MaxSessions = cmp.Or(c.MaxSessions, 3)
	c.Timeout = cmp.Or(c.Timeout, 30*time.Second)
	c.Idle = cmp.Or(c.Idle, 5*time.Minute)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}
