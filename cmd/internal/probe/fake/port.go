package fake

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/candor-mcp/candor/internal/lazyregexp"
)

// Port is a port of the upstream. Connections to other ports are refused.
type Port struct {
	Number int
	TLS    bool
}

// webPorts are the ports of services that a server finds by name.
var webPorts = []Port{{80, false}, {443, true}}

// maxLocal is the maximum number of local ports of one server.
const maxLocal = 16

// local matches an HTTP address on the loopback, with its scheme if there is one.
var local = lazyregexp.New(`(?i)(?:\b([a-z][a-z0-9+.-]*)://(?:[^\s/@]*@)?|(?:^|[\s=,;"']))(?:localhost|127(?:\.[0-9]{1,3}){3}|\[::1\]|0\.0\.0\.0):([0-9]{1,5})\b`)

// LocalPorts returns the ports of HTTP services on the loopback in the environment of a server, as NAME=value, or in its arguments. Other
// protocols, such as redis://127.0.0.1:6379, are left out.
func LocalPorts(configuration []string) []Port {
	var out []Port
	for _, text := range configuration {
		for _, found := range local.Get().FindAllStringSubmatch(text, maxLocal) {
			secure, web := schemes[found[1]]
			number, err := strconv.Atoi(found[2])
			known := slices.ContainsFunc(slices.Concat(webPorts, out), func(p Port) bool { return p.Number == number })
			if web && err == nil && number > 0 && number < 1<<16 && !known && len(out) < maxLocal {
				out = append(out, Port{number, secure})
			}
		}
	}
	return out
}

// schemes maps each scheme to whether it uses TLS.
var schemes = map[string]bool{"": false, "http": false, "ws": false, "https": true, "wss": true}

// line returns the port as a line of the link.
func (p Port) line() string { return fmt.Sprintf("%s %d %t", sayPort, p.Number, p.TLS) }

func readPort(text string) (p Port, ok bool) {
	_, err := fmt.Sscanf(text, "%d %t", &p.Number, &p.TLS)
	return p, err == nil
}
