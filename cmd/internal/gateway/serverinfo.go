package gateway

import (
	"context"
	"log/slog"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/gateway/servername"
	"github.com/candor-mcp/candor/wire"
)

// ServerInfo is what a server said about itself to the last client that began a session, as one line each, without secrets and control
// characters.
type ServerInfo struct {
	Name     string `json:"name,omitempty"`
	Version  string `json:"version,omitempty"`
	Protocol string `json:"protocol,omitempty"` // the version of MCP

	marksFailures bool // it announces Candor's extension, so its failures are marked and a result without a mark is a success
}

// errorsExtension is the name under which a server announces Candor in its capabilities; see chapter 5 of spec/contract.md.
const errorsExtension = "dev.candor/errors"

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

// Describe notes what the server says about itself in an answer to initialize or server/discover, and the version of the protocol. The
// name of the upstream changes if [Options.LearnName] is set and the answer has a usable one.
func (u *Upstream) Describe(m *wire.Message, protocol string) {
	redacted := func(text string) string { return string(u.Secrets.Load().Redact([]byte(text))) }
	line := func(text string) string {
		return strings.Join(strings.Fields(candor.Public(redacted(text), maxServerInfo)), " ")
	}
	name, _ := m.Result().Path("serverInfo", "name").Str()
	version, _ := m.Result().Path("serverInfo", "version").Str()
	u.server.Store(&ServerInfo{Name: line(name), Version: line(version), Protocol: line(protocol),
		marksFailures: m.Result().Path("capabilities", "extensions", errorsExtension).Type() == wire.TypeObject})
	if learned := servername.Clean(redacted(name)); u.Options.LearnName && learned != "" {
		u.name.Store(&learned)
	}
}

// marksFailures reports whether the server has said that it marks its failures.
func (u *Upstream) marksFailures() bool {
	info := u.server.Load()
	return info != nil && info.marksFailures
}

// Name returns the name of the upstream: the one that the server gave itself if [Options.LearnName] is set and it has
// answered initialize, otherwise [Options.Name].
func (u *Upstream) Name() string { return *u.name.Load() }

// nameLogger makes every log line of the upstream carry its name.
func (u *Upstream) nameLogger() {
	if !u.Options.LearnName {
		u.Options.Logger = u.Options.Logger.With(slog.String("upstream", u.Name()))
		return
	}
	u.Options.Logger = slog.New(namingHandler{u.Options.Logger.Handler(), u})
}

// namingHandler adds the name of an upstream when a line is logged. [slog.Logger.With] would keep the first name.
type namingHandler struct {
	slog.Handler
	up *Upstream
}

// Handle implements [slog.Handler].
func (h namingHandler) Handle(ctx context.Context, r slog.Record) error { //nolint:gocritic // the signature of slog
	named := slog.NewRecord(r.Time, r.Level, r.Message, r.PC)
	named.AddAttrs(slog.String("upstream", h.up.Name()))
	r.Attrs(func(a slog.Attr) bool {
		named.AddAttrs(a)
		return true
	})
	return h.Handler.Handle(ctx, named)
}

// WithAttrs implements [slog.Handler].
func (h namingHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return namingHandler{h.Handler.WithAttrs(attrs), h.up}
}

// WithGroup implements [slog.Handler].
func (h namingHandler) WithGroup(name string) slog.Handler {
	return namingHandler{h.Handler.WithGroup(name), h.up}
}
