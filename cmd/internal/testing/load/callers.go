package load

import (
	"fmt"
	"strconv"

	"github.com/candor-mcp/candor/wire"
)

// Callers are clients of one server that each wait for an answer before the next call. They are not those of internal/mcpclient, which
// need 7.1 µs of CPU time for a call of the lean server over a pipe and reach 56,000 calls per second from 128 callers, where these
// need 3.7 µs and reach 138,000: the client would hide the cost of the gateway.
type Callers interface {
	// Call makes one call of a tool and returns an error if the answer is not the expected one. Callers are numbered from 0, and
	// each makes one call at a time.
	Call(caller int, tool string) error
	Close() error
}

// AppendCall appends the request that calls a tool.
func AppendCall(dst []byte, id uint64, tool string) []byte {
	dst = strconv.AppendUint(append(dst, `{"jsonrpc":"2.0","id":`...), id, 10)
	dst = append(dst, `,"method":"tools/call","params":{"name":"`...)
	dst = append(dst, tool...)
	return append(dst, `","arguments":{"path":"notes/today.md","limit":10}}}`...)
}

// Messages that begin a session.
const (
	Initialize = `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},` +
		`"clientInfo":{"name":"load","version":"1"}}}`
	Initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
)

// Check returns an error if an answer is not the expected one of the tool, because the measurement would be invalid.
func Check(m *wire.Message, tool string) error {
	if tool == "" && m.Kind() == wire.KindResult {
		return nil
	}
	failed, _ := m.Result().Path("isError").Bool()
	if m.Kind() != wire.KindResult || failed != (tool == Fail) {
		return fmt.Errorf("calling %s: not expected: %.500s", tool, m.Bytes())
	}
	return nil
}
