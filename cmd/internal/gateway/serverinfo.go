package gateway

import (
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/wire"
)

// ServerInfo is what a server said about itself to the last client that began a session, as one line each, without secrets and control
// characters.
type ServerInfo struct {
	Name     string `json:"name,omitempty"`
	Version  string `json:"version,omitempty"`
	Protocol string `json:"protocol,omitempty"` // the version of MCP
}

const maxServerInfo = 100

// describesServer reports whether the answer to the call describes the server.
func (c *Call) describesServer() bool {
	return c.method == "initialize" || c.method == "server/discover"
}

// describe notes what the server says about itself in its answer to the call.
func (c *Call) describe(m *wire.Message) {
	protocol := m.Result().Path("protocolVersion")
	if c.newEra { // without a session, each request names the version
		protocol = c.request.Params().Path("_meta", ProtocolVersionKey)
	}
	version, _ := protocol.Str()
	c.up.Describe(m, version)
}

// Describe notes what the server says about itself in an answer to initialize or server/discover, and the version of the protocol.
func (u *Upstream) Describe(m *wire.Message, protocol string) {
	line := func(text string) string {
		return strings.Join(strings.Fields(candor.Public(string(u.Secrets.Load().Redact([]byte(text))), maxServerInfo)), " ")
	}
	name, _ := m.Result().Path("serverInfo", "name").Str()
	version, _ := m.Result().Path("serverInfo", "version").Str()
	u.server.Store(&ServerInfo{Name: line(name), Version: line(version), Protocol: line(protocol)})
}
