package fake

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/candor-mcp/candor/internal/lazyregexp"
)

// Port is where an upstream listens. Connections to other ports are refused, as they are where a database is not running.
type Port struct {
	Number int
	TLS    bool
}

// webPorts are those of services that a server finds by their names.
var webPorts = []Port{{80, false}, {443, true}}

// maxLocal bounds the ports of one server.
const maxLocal = 16

// local finds an address of HTTP on the loopback, with its scheme if there is one.
var local = lazyregexp.New(`(?i)(?:\b([a-z][a-z0-9+.-]*)://(?:[^\s/@]*@)?|(?:^|[\s=,;"']))(?:localhost|127(?:\.[0-9]{1,3}){3}|\[::1\]|0\.0\.0\.0):([0-9]{1,5})\b`)

// LocalPorts returns the ports of the services on the loopback that a server is configured with: in its environment, as NAME=value, or in its
// arguments. Addresses of other protocols than HTTP, such as redis://127.0.0.1:6379, are left out.
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

// schemes are those of HTTP, and whether they use TLS.
var schemes = map[string]bool{"": false, "http": false, "ws": false, "https": true, "wss": true}

// line is what the outer half says of a port.
func (p Port) line() string { return fmt.Sprintf("%s %d %t", sayPort, p.Number, p.TLS) }

func readPort(text string) (p Port, ok bool) {
	_, err := fmt.Sscanf(text, "%d %t", &p.Number, &p.TLS)
	return p, err == nil
}
