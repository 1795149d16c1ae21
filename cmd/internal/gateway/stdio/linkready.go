package stdio

import "github.com/candor-mcp/candor/wire"

// passReady passes on the line by which a JSON-RPC harness says that it is ready, and reports whether m is that line. It is not a
// message, but clients of such a server wait for it. It is passed on once for each client, as the first line of a server only: after
// a restart the client knows already.
func (l *serverConn) passReady(m *wire.Message, first bool) bool {
	if !first || l.jumbled || !isReady(m.Value()) || !l.announced.CompareAndSwap(false, true) {
		return false
	}
	l.client.queue(m.Bytes())
	return true
}

func isReady(v wire.Value) bool {
	return v.Path("type").Is("ready") && v.Path("methods").Type() == wire.TypeArray && !v.Path("jsonrpc").Present()
}
