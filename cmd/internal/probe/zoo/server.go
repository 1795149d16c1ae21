package zoo

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/argerror"
	"github.com/candor-mcp/candor/internal/framing"
	"github.com/candor-mcp/candor/internal/wireflaw"
	"github.com/candor-mcp/candor/wire"
)

// The protocol versions: modern has no sessions, the others open with initialize.
const modern = "2026-07-28"

var legacy = []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

const (
	metaVersion = "io.modelcontextprotocol/protocolVersion"
	serverInfo  = `{"name":"candor-zoo","version":"1"}`
	cacheable   = `"ttlMs":0,"cacheScope":"private",` // required for lists by the modern version
)

// receive answers one message. An answer without frames means that none is sent.
func (z *zoo) receive(ctx context.Context, s *session, data []byte) (answer, *call) {
	c := &call{zoo: z, session: s, ctx: ctx, message: wire.Parse(data, wire.Limits{})}
	version, _ := c.message.Params().Path("_meta", metaVersion).Str()
	c.modern = version == modern
	if len(data) > oversizeDeath && z.wide["oversize-dies"] {
		return answer{dies: true}, c
	}
	switch c.message.Kind() {
	case wire.KindNotification:
		return answer{}, c // cancellations are ignored: this is the defect
	case wire.KindRequest:
		if version != "" && !c.modern && !slices.Contains(legacy, version) {
			return one(c.rpcError("The protocol version is not supported.", `"code":-32022,"data":{"supported":`+versions()+`,"requested":`+quote(version)+`}`)), c
		}
		return c.dispatch(), c
	case wire.KindResult, wire.KindError:
		return answer{}, c // this server makes no requests
	default:
		return c.malformed(), c
	}
}

// tooLarge answers a line that was too long to read.
func (z *zoo) tooLarge(s *session, head, tail []byte) answer {
	c := &call{zoo: z, session: s, message: wire.Parse([]byte(`{"jsonrpc":"2.0","id":0,"method":""}`), wire.Limits{})}
	frame := c.refuse(argerror.Flaw(wire.Malformation{Flaw: wireflaw.TooLarge}, candor.PartyServer))
	if id := framing.PeekID(head, tail); id != nil {
		return one(edited(frame, string(id), "id"))
	}
	return one(without(frame, "id"))
}

// dispatch answers a request by its method.
func (c *call) dispatch() answer {
	switch method := string(c.message.Method()); {
	case method == "initialize":
		return one(c.initialize())
	case method == "server/discover":
		return one(c.result(`{` + cacheable + `"supportedVersions":` + versions() + `,"capabilities":` + capabilities +
			`,"_meta":{"io.modelcontextprotocol/serverInfo":` + serverInfo + `}}`))
	case method == "ping" && !c.modern:
		return one(c.result(`{}`))
	case method == "tools/list":
		return c.list("tools", c.toolList())
	case method == "tools/call":
		return c.callTool()
	case method == "logging/setLevel" && !c.modern:
		return c.setLevel()
	case method == "completion/complete":
		return c.complete()
	case strings.HasPrefix(method, "resources/"), strings.HasPrefix(method, "prompts/"):
		return c.answerResources(method)
	default:
		return c.unknownMethod()
	}
}

const capabilities = `{"tools":{},"resources":{},"prompts":{},"logging":{},"completions":{}}`

func versions() string {
	return `["` + strings.Join(append([]string{modern}, legacy...), `","`) + `"]`
}

func (c *call) initialize() []byte {
	version, _ := c.message.Params().Path("protocolVersion").Str()
	if !slices.Contains(legacy, version) {
		version = legacy[0]
	}
	return c.result(`{"protocolVersion":` + quote(version) + `,"capabilities":` + capabilities + `,"serverInfo":` + serverInfo + `}`)
}

// list returns everything on one page, so any cursor is wrong.
func (c *call) list(name, items string) answer {
	if cursor, ok := c.message.Params().Get("cursor"); ok && !cursor.IsNull() {
		return c.badParams("/cursor", "There is no such page: this list has only one.")
	}
	if c.modern {
		return one(c.result(`{` + cacheable + quote(name) + `:[` + items + `]}`))
	}
	return one(c.result(`{` + quote(name) + `:[` + items + `]}`))
}

func (c *call) toolList() string {
	items := make([]string, len(c.zoo.tools))
	for i, t := range c.zoo.tools {
		items[i] = t.listed()
	}
	return strings.Join(items, ",")
}

// badParams refuses a request with one wrong param.
func (c *call) badParams(path, message string) answer {
	return one(c.refuse(candor.New(candor.CodeInvalidRequestParams, message, candor.WithOrigin(candor.PartyServer, false),
		candor.WithIssues(candor.Issue{Path: path, Message: message}))))
}

// callTool calls a tool.
func (c *call) callTool() answer {
	name, ok := c.message.Params().Path("name").Str()
	if !ok {
		return c.badParams("/name", "The name of a tool is missing.")
	}
	c.tool = c.zoo.tool(name)
	if c.tool == nil {
		return c.unknownTool(name)
	}
	c.arguments, _ = c.message.Params().Get("arguments")
	c.examine()
	return c.tool.answer(c)
}

var levels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

func (c *call) setLevel() answer {
	if level, _ := c.message.Params().Path("level").Str(); !slices.Contains(levels, level) && !c.zoo.wide["level-ignored"] {
		return c.badParams("/level", "The level must be one of "+strings.Join(levels, ", ")+".")
	}
	return one(c.result(`{}`))
}

func (c *call) complete() answer {
	ref := c.message.Params().Path("ref")
	if ref.Path("type").Is("ref/prompt") && ref.Path("name").Is(promptName) || ref.Path("type").Is("ref/resource") && ref.Path("uri").Is(resourceURI) {
		return one(c.result(`{"completion":{"values":[],"total":0,"hasMore":false}}`))
	}
	return c.badParams("/ref", "The reference names neither a prompt nor a resource of this server.")
}

// session is the state of one client. Alternating answers are counted per session, so that every client sees the same.
type session struct {
	mu     sync.Mutex
	counts map[string]int
}

func newSession() *session {
	return &session{counts: map[string]int{}}
}

// next counts, from 1.
func (s *session) next(what string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts[what]++
	return s.counts[what]
}
