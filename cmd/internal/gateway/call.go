package gateway

import (
	"bytes"
	"strings"
	"sync/atomic"
	"time"

	"github.com/candor-mcp/candor/wire"
)

// Call is a request of a client whose answer is pending. Its methods may be called from several goroutines, but only the first
// end counts: see [Call.Close].
type Call struct {
	up      *Upstream
	request wire.Message // of bytes that are its own
	id      wire.ID
	method  string
	tool    string // of tools/call
	session string
	newEra  bool // of protocol version 2026-07-28 or later: every result says that it is complete

	began    time.Time // when it was first forwarded
	attempt  int       // from 1
	over     ended
	breaker  *Breaker                               // of its server
	passes   bool                                   // the breaker has let it through, and waits for its end
	repeats  bool                                   // it has failed too often, and goes on as a trial
	tools    *toolSet                               // that its caller was sent, nil if none are known
	learn    func(result wire.Value, cursor string) // takes a list of tools, nil if the call does not ask for one or its caller is unknown
	final    bool                                   // the client has seen some of the answer, so that there is no other attempt
	streamed bool                                   // its answer comes on a stream that the client may take up again
	unheard  atomic.Bool                            // the client has gone and will not read the answer

	departures *departures // nil if the arguments fit, or were not checked
}

// ID returns the id as the client wrote it.
func (c *Call) ID() wire.ID { return c.id }

// Method returns the method that is called.
func (c *Call) Method() string { return c.method }

// Tool returns the tool that is called, "" for any other method.
func (c *Call) Tool() string { return c.tool }

// Bytes returns the request as it is to be forwarded: as it came.
func (c *Call) Bytes() []byte { return c.request.Bytes() }

// ProgressToken returns the token under which progress of this call is reported, nil if there is none.
func (c *Call) ProgressToken() []byte { return c.request.Params().Path("_meta", "progressToken").Raw() }

// Timeout returns how long the call may take without a sign of progress, 0 for ever.
func (c *Call) Timeout() time.Duration {
	if c.method == "initialize" {
		return max(c.up.Options.StartTimeout, 0)
	}
	return c.up.Timeout(c.tool)
}

// Attempt returns which attempt this is, from 1.
func (c *Call) Attempt() int { return c.attempt }

// Peer is where a request comes from.
type Peer struct {
	Session string
	Breaker *Breaker   // of the server it is for
	Cache   *ToolCache // where its tools are known from
	Caller  Caller     // as which; the zero caller is unknown
}

// inSession is a peer that is told apart by its session alone.
func (u *Upstream) inSession(session string) Peer {
	return Peer{Session: session, Breaker: u.Breaker, Cache: &u.Tools, Caller: Caller{Session: session}}
}

// NewCall opens a call of a session, without checking it.
func (u *Upstream) NewCall(m *wire.Message, session string) *Call {
	return u.NewCallFrom(m, u.inSession(session))
}

// NewCallFrom opens a call of a peer, without checking it.
func (u *Upstream) NewCallFrom(m *wire.Message, from Peer) *Call {
	session := from.Session
	own := m.Clone()
	c := &Call{up: u, request: own, id: own.ID(), method: methodName(own.Method()), session: session, breaker: from.Breaker, began: u.Options.Now(), attempt: 1}
	c.over.open = &u.open
	u.open.Add(1)
	u.calls.Add(1)
	params := own.Params()
	switch c.method {
	case "tools/call":
		c.tool, _ = params.Path("name").Str()
		c.tools = from.Cache.find(from.Caller)
	case "tools/list":
		c.learn = func(result wire.Value, cursor string) { from.Cache.Learn(from.Caller, result, cursor) }
	}
	if bytes.Contains(params.Raw(), []byte(ProtocolVersionKey)) {
		version, _ := params.Path("_meta", ProtocolVersionKey).Str()
		c.newEra = version >= "2026-07-28"
	}
	return c
}

// methodName makes no copy of the name that nearly all calls have.
func methodName(name []byte) string {
	if string(name) == "tools/call" {
		return "tools/call"
	}
	return string(name)
}

// ProtocolVersionKey is the member of _meta with the protocol version of a request.
const ProtocolVersionKey = "io.modelcontextprotocol/protocolVersion"

// arguments returns the arguments of a tool call as they came.
func (c *Call) arguments() []byte { return c.request.Params().Path("arguments").Raw() }

// IsTool reports a call whose failure is a result, not a protocol error.
func (c *Call) IsTool() bool { return c.method == "tools/call" }

// IsNotification reports that a method is one that nobody answers.
func IsNotification(method string) bool { return strings.HasPrefix(method, "notifications/") }

// ClientMetaKeys are the members of a request's _meta that say what its client is.
var ClientMetaKeys = [...]string{ProtocolVersionKey, "io.modelcontextprotocol/clientInfo", "io.modelcontextprotocol/clientCapabilities"}

// Session returns the session that the call was made in, "" if there is none.
func (c *Call) Session() string { return c.session }

// Request returns the message of the client. It must not be changed.
func (c *Call) Request() *wire.Message { return &c.request }

// IsStateless reports a call of protocol version 2026-07-28 or later, which has no session.
func (c *Call) IsStateless() bool { return c.newEra }

// SetStreamed says that the answer comes on a stream that the client may resume.
func (c *Call) SetStreamed() { c.streamed = true }

// SetClientGone says that the client has gone and will not read the answer.
func (c *Call) SetClientGone() { c.unheard.Store(true) }
