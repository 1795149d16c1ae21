package gateway

import (
	"sync"

	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/wire"
)

// AutoClient means the client program that a session names in initialize, or a request of protocol version 2026-07-28 in its _meta.
const AutoClient = "auto"

// ClientNames returns AutoClient and the names of the known client programs.
func ClientNames() []string {
	names := []string{AutoClient}
	for _, c := range contract.Clients() {
		names = append(names, c.Name)
	}
	return names
}

// clientTable remembers which client program began each session.
type clientTable struct {
	mu        sync.Mutex
	bySession map[string]contract.Client // guarded by mu
}

// maxClients bounds the sessions in a clientTable. Beyond it all are forgotten: an unknown client gets answers that any client shows.
const maxClients = 10_000

func (t *clientTable) note(session string, c contract.Client) { //nolint:gocritic // once per session
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.bySession == nil || len(t.bySession) >= maxClients {
		t.bySession = map[string]contract.Client{}
	}
	t.bySession[session] = c
}

func (t *clientTable) find(session string) contract.Client {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.bySession[session]
}

// NoteClient remembers the client program that begins a session with an initialize request.
func (u *Upstream) NoteClient(initialize *wire.Message, session string) {
	name, ok := initialize.Params().Path("clientInfo", "name").Str()
	if c := contract.ClientOf(name); ok && c.Name != "" && session != "" && len(session) <= MaxSessionID {
		u.clients.note(session, c)
	}
}

// client returns the client program that made the call, or the zero Client if it is unknown.
func (c *Call) client() contract.Client {
	if own := c.up.Options.Client; own != "" && own != AutoClient {
		return contract.ClientOf(own)
	}
	if name, ok := c.request.Params().Path("_meta", "io.modelcontextprotocol/clientInfo", "name").Str(); ok {
		return contract.ClientOf(name)
	}
	return c.up.clients.find(c.session)
}
