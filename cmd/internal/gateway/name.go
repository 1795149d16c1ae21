package gateway

import (
	"context"
	"log/slog"

	"github.com/candor-mcp/candor/cmd/internal/gateway/servername"
	"github.com/candor-mcp/candor/wire"
)

// Name returns the name of the upstream: the one that the server gave itself if [Options.LearnName] is set and it has
// answered initialize, otherwise [Options.Name].
func (u *Upstream) Name() string { return *u.name.Load() }

// Introduced notes the name in a server's answer to initialize or server/discover. It does nothing unless
// [Options.LearnName] is set, and keeps the name so far if the answer has none.
func (u *Upstream) Introduced(m *wire.Message) {
	if !u.Options.LearnName || m.Kind() != wire.KindResult {
		return
	}
	text, ok := m.Result().Path("serverInfo", "name").Str()
	if !ok {
		return
	}
	name := servername.Clean(string(u.Secrets.Load().Redact([]byte(text))))
	if name != "" && name != u.Name() {
		u.name.Store(&name)
	}
}

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
