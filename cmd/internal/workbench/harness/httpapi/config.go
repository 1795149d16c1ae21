package httpapi

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/domain"
	"github.com/candor-mcp/candor/internal/httpguard"
)

// Config configures a client. Zero fields have defaults.
type Config struct {
	Base    string        // URL of the service; https, or http on loopback
	Token   string        // sent as a bearer token and never shown; if empty, none is sent
	Timeout time.Duration // of one request with its answer; 30 s by default
	MaxBody int64         // bytes of an answer after decompression; 4 MiB by default

	// Configured is set if the operator chose Base, which then may be on any network. The default URL of a service must
	// resolve to global addresses.
	Configured bool
}

// TimeoutName is the variable with the time limit of all clients, in milliseconds.
const TimeoutName = "MCP_HTTP_TIMEOUT_MS"

// Limits of MCP_HTTP_TIMEOUT_MS.
const (
	minTimeoutMs = 100
	maxTimeoutMs = 300_000
)

// Config reads the configuration of a client. Errors never contain a token, or a URL, which may contain a password.
func (s *Service) Config(v *domain.Variables) Config {
	c := Config{Base: s.URL, Token: v.Getenv(s.TokenName), Timeout: v.Milliseconds(TimeoutName, minTimeoutMs, maxTimeoutMs)}
	if !validToken(c.Token) {
		v.Err = cmp.Or(v.Err, fmt.Errorf("%s: want printable ASCII without spaces, at most %d characters", s.TokenName, maxToken))
	}
	if base := v.Getenv(s.URLName); base != "" {
		c.Base, c.Configured = base, true
		if _, err := parseBase(base); err != nil {
			v.Err = cmp.Or(v.Err, fmt.Errorf("%s: %w", s.URLName, err))
		}
	}
	return c
}

const maxToken = 1024

func validToken(token string) bool {
	return len(token) <= maxToken && !strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' })
}

// parseBase parses the URL of a service. Its errors do not repeat the URL, which may contain a password.
func parseBase(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, errors.New("not a URL")
	}
	switch {
	case u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || u.Opaque != "":
		return nil, errors.New("want https://host, with a port and a path if needed")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.ForceQuery:
		return nil, errors.New("want no user, query or fragment")
	case u.Scheme == "http" && !httpguard.IsLoopback(u.Hostname()):
		return nil, errors.New("want https; http is for loopback addresses only")
	}
	u.Path = strings.TrimRight(u.Path, "/")
	u.RawPath = ""
	return u, nil
}
