package config

import (
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/yamlfile"
	"github.com/candor-mcp/candor/internal/httpguard"
	"github.com/candor-mcp/candor/internal/lazyregexp"
	"github.com/candor-mcp/candor/internal/redact"
)

// The parsers for single values are exported for command lines. Their errors are [*Mistake].

// ParseDuration parses a positive duration with its unit: 250ms, 30s, 5m, 1h30m.
func ParseDuration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	switch {
	case err != nil && yamlfile.IsNumber(text):
		return 0, mistake("write the unit: "+text+"s, "+text+"ms or "+text+"m", "the duration %s has no unit", quote(text))
	case err != nil:
		return 0, mistake("such as 250ms, 30s, 5m or 1h30m", "%s: not a duration", quote(text))
	case d <= 0:
		return 0, mistake("such as 250ms, 30s, 5m or 1h30m", "the duration %s is not above zero", quote(text))
	}
	return d, nil
}

// ParseDeadline parses a duration. It returns a negative duration for [None].
func ParseDeadline(text string) (time.Duration, error) {
	if text == None {
		return -1, nil
	}
	return ParseDuration(text)
}

// Bounds on the configured message size.
const (
	leastSize = 1 << 10
	mostSize  = 1 << 30
)

// ParseSize parses a number of bytes with its unit, from 1 KiB to 1 GiB: 512KiB, 16MiB, 1GiB.
func ParseSize(text string) (int, error) {
	bytes, err := yamlfile.Size(text)
	if err != nil {
		return 0, err
	}
	if bytes < leastSize || bytes > mostSize {
		return 0, mistake("from 1KiB to 1GiB", "the size %s is out of bounds", quote(text))
	}
	return int(bytes), nil
}

// ParseListen parses HOST:PORT. An empty host means every address of the machine.
func ParseListen(text string) (string, error) {
	const hint = "such as " + DefaultListen + ", or :8765 for every address of this machine"
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		return "", mistake(hint, "%s: not an address with a port", quote(text))
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return "", mistake(hint, "%s: not a port", quote(port))
	}
	if strings.ContainsAny(host, " /\t\n") {
		return "", mistake(hint, "%s: not a host", quote(host))
	}
	return text, nil
}

// ParseAdmin parses an address of this machine. Others are refused, because metrics are only for its operator.
func ParseAdmin(text string) (string, error) {
	if _, err := ParseListen(text); err != nil {
		return "", err
	}
	if !IsLocal(text) {
		return "", mistake("such as 127.0.0.1:8766; use a tunnel to reach it from elsewhere", "%s can be reached from other machines", quote(text))
	}
	return text, nil
}

// IsLocal reports whether an address that [ParseListen] has accepted can only be reached from this machine.
func IsLocal(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && httpguard.IsLoopback(host)
}

// ParseURL parses the URL of a server.
func ParseURL(text string) (*url.URL, error) {
	const hint = "such as http://127.0.0.1:3000/mcp"
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, mistake(hint, "not a URL of a server")
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, mistake(hint, "the address %s begins neither with http:// nor with https://", quote(ShowURL(u)))
	case u.Hostname() == "":
		return nil, mistake(hint, "the address %s names no host", quote(ShowURL(u)))
	case u.User != nil:
		return nil, mistake("use headers: {Authorization: \"Bearer ${NAME}\"}", "an address must not have a password")
	case u.Fragment != "":
		return nil, mistake("leave out #"+u.Fragment, "a fragment is never sent to a server")
	}
	return u, nil
}

// ShowURL returns the URL of a server for people and logs, without user information and the values of its query, which often hold
// a key.
func ShowURL(u *url.URL) string {
	shown := *u
	if u.User != nil {
		shown.User = url.User("…")
	}
	pairs := strings.FieldsFunc(u.RawQuery, func(c rune) bool { return c == '&' || c == ';' })
	for i, pair := range pairs {
		name, _, hasValue := strings.Cut(pair, "=")
		if pairs[i] = "…"; hasValue {
			pairs[i] = name + "=…"
		}
	}
	shown.RawQuery = strings.Join(pairs, "&")
	return strings.ReplaceAll(redact.Policy{KeepPaths: true}.Text(shown.String()), "%E2%80%A6", "…")
}

var nameForm = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// CheckName returns an error if a name of an upstream cannot be part of a path.
func CheckName(name string) error {
	if !nameForm.MatchString(name) {
		return mistake("letters, digits, . _ and -, at most 64, such as github", "%s: not a valid name of an upstream", quote(name))
	}
	return nil
}
