package gateway

import (
	"bytes"
	"crypto/sha256"
	"sync/atomic"
	"time"

	"github.com/candor-mcp/candor/wire"
)

// Call is a request from a client that has no answer yet. Its methods may be called from several goroutines, but only the first
// one to end it has an effect: see [Call.Close].
type Call struct {
	up      *Upstream
	request wire.Message // a copy that the call owns
	id      wire.ID
	method  string
	tool    string // the tool's name, for tools/call
	session string
	trace   Trace
	newEra  bool // protocol version 2026-07-28 or later, in which every result has a resultType

	began    time.Time // when it was first forwarded
	attempt  int       // from 1
	opened   bool      // it was counted as a call
	admitted bool      // it was forwarded
	ended    atomic.Bool
	breaker  *Breaker                               // breaker of its server
	caller   Caller                                 // who made it
	passes   bool                                   // the breaker has let it through and waits for its end
	repeats  bool                                   // it has failed too often and is let through as a trial
	tools    *toolSet                               // tools that its caller has listed; nil if unknown
	learn    func(result wire.Value, cursor string) // receives a tool list; nil unless the method is tools/list
	final    bool                                   // the client has seen part of the answer, so it cannot be retried
	gone     atomic.Bool                            // the client has disconnected and will not read the answer
	progress atomic.Bool                            // the server has reported progress, so the tool is running
	unserved bool                                   // the HTTP status of the answer shows that the server refused the request

	mismatches *mismatches // nil if the arguments match the schema or were not checked
}

// ID returns the id as the client wrote it.
func (c *Call) ID() wire.ID { return c.id }

// Method returns the method that is called.
func (c *Call) Method() string { return c.method }

// Tool returns the name of the called tool, or "" for any other method.
func (c *Call) Tool() string { return c.tool }

// Bytes returns the request to forward, which is unchanged.
func (c *Call) Bytes() []byte { return c.request.Bytes() }

// ProgressToken returns the token under which progress of this call is reported, or nil.
func (c *Call) ProgressToken() []byte { return c.request.Params().Path("_meta", "progressToken").Raw() }

// NoteProgress notes that the server has reported progress: from then on no answer proves that the call had no effect.
func (c *Call) NoteProgress() { c.progress.Store(true) }

// NoteRefused notes that the server refused the request of the call by its HTTP status, before it ran a tool.
func (c *Call) NoteRefused() { c.unserved = true }

// Timeout returns how long the call may take without progress. Zero means no limit.
func (c *Call) Timeout() time.Duration {
	if c.method == "initialize" {
		return max(c.up.Options.StartTimeout, 0)
	}
	return c.up.Timeout(c.tool)
}

// Attempt returns the number of this attempt, counted from 1.
func (c *Call) Attempt() int { return c.attempt }

// Peer is the origin of a request.
type Peer struct {
	Session string
	Breaker *Breaker   // breaker of the server it is for
	Cache   *ToolCache // cache with the tools of the caller
	Caller  Caller     // identity of the caller; the zero Caller is unknown
	Trace   Trace      // trace of the HTTP request
}

// inSession returns a peer that is identified by its session only.
func (u *Upstream) inSession(session string) Peer {
	return Peer{Session: session, Breaker: u.Breaker, Cache: &u.Tools, Caller: Caller{Session: session}}
}

// NewCall opens a call in a session, without checking it.
func (u *Upstream) NewCall(m *wire.Message, session string) *Call {
	return u.NewCallFrom(m, u.inSession(session))
}

// NewCallFrom opens a call from a peer, without checking it.
func (u *Upstream) NewCallFrom(m *wire.Message, from Peer) *Call {
	own := m.Clone()
	c := u.newRecord(own.ID(), from.Session)
	c.request, c.method, c.breaker, c.caller, c.opened, c.trace = own, methodName(own.Method()), from.Breaker, from.Caller, true, from.Trace
	u.open.Add(1)
	u.calls.Add(1)
	params := own.Params()
	switch c.method {
	case "tools/call":
		c.tool, _ = params.Path("name").Str()
		c.tools = from.Cache.find(from.Caller)
	case "initialize":
		u.NoteClient(&own, from.Session)
	case "tools/list":
		c.learn = func(result wire.Value, cursor string) { from.Cache.Learn(from.Caller, result, cursor) }
	}
	if bytes.Contains(params.Raw(), []byte(ProtocolVersionKey)) {
		version, _ := params.Path("_meta", ProtocolVersionKey).Str()
		c.newEra = version >= "2026-07-28"
	}
	return c
}

// newRecord returns a call that is used only to record and answer a failure.
func (u *Upstream) newRecord(id wire.ID, session string) *Call {
	return &Call{up: u, id: id, session: session, began: u.Options.Now(), attempt: 1}
}

// claim reports whether the caller is the first to end the call, and must do so. The answer, the deadline, the end of the upstream
// and the client's cancellation compete for it.
func (c *Call) claim() bool {
	if !c.ended.CompareAndSwap(false, true) {
		return false
	}
	c.up.open.Add(-1)
	return true
}

// Ended reports whether the call has ended.
func (c *Call) Ended() bool { return c.ended.Load() }

// methodName returns name as a string, without allocating for tools/call.
func methodName(name []byte) string {
	if string(name) == "tools/call" {
		return "tools/call"
	}
	return string(name)
}

// ProtocolVersionKey is the member of _meta with the protocol version of a request.
const ProtocolVersionKey = "io.modelcontextprotocol/protocolVersion"

// arguments returns the arguments of a tool call, unchanged.
func (c *Call) arguments() []byte { return c.request.Params().Path("arguments").Raw() }

// IsTool reports whether this is a tools/call request. Its failure is a result, not a protocol error.
func (c *Call) IsTool() bool { return c.method == "tools/call" }

// ClientMetaKeys are the members of a request's _meta that describe the client.
var ClientMetaKeys = [...]string{ProtocolVersionKey, "io.modelcontextprotocol/clientInfo", "io.modelcontextprotocol/clientCapabilities"}

// Session returns the session that the call was made in, or "".
func (c *Call) Session() string { return c.session }

// Request returns the client's message. It must not be changed.
func (c *Call) Request() *wire.Message { return &c.request }

// IsStateless reports whether the call uses protocol version 2026-07-28 or later, which has no sessions.
func (c *Call) IsStateless() bool { return c.newEra }

// SetClientGone notes that the client has disconnected and will not read the answer.
func (c *Call) SetClientGone() { c.gone.Store(true) }

// IDKey returns the map key for an id or a progress token. Long ids are hashed, so that the memory for a call does not depend on
// the id that the client chose.
//
// IDKey can be inlined, so that a key used only for a lookup stays on the stack.
func IDKey(id wire.ID) string {
	var space [maxKey + 1]byte
	return string(appendIDKey(space[:0], id))
}

func appendIDKey(dst []byte, id wire.ID) []byte {
	key := id.AppendKey(dst)
	if len(key) > maxKey {
		sum := sha256.Sum256(key)
		key = append(append(dst, '#'), sum[:]...)
	}
	return key
}

// maxKey is the length of the longest key that is not hashed.
const maxKey = 64
