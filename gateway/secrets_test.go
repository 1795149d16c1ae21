package gateway_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/gateway"
	"github.com/candor-mcp/candor/internal/corpus"
	"github.com/candor-mcp/candor/internal/planted"
	"github.com/candor-mcp/candor/internal/plug/trail"
	"github.com/candor-mcp/candor/ledger"
	"github.com/candor-mcp/candor/meter"
	"github.com/candor-mcp/candor/meter/prom"
)

// act is what an upstream of these tests does when it is called.
type act struct {
	Say    string // the members of its answer beside the id
	Noise  string // printed before the answer where only messages belong; a child only
	Stderr string // a child only
	Exit   int    // a child ends with it instead of an answer, unless it is 0
	Status int    // of an answer without JSON-RPC, 0 if it has; HTTP only
	Kind   string // and its media type
	Body   string // and its words
}

// plant is one secret, or one text that must not get out, in one failure.
type plant struct {
	way, kind, secret string
	act               act
	line              string // the request with $id, $secret and $meta; "" calls the tool that does the act
}

// way is a place of an upstream's answer where words slip in. Text holds the secret somewhere in it.
type way struct {
	name string
	act  func(text, secret string) act
}

// object writes alternating names and values as JSON, in this order: a map would sort the names.
func object(parts ...any) json.RawMessage {
	var b bytes.Buffer
	for i := 0; i < len(parts); i += 2 {
		name, err := json.Marshal(parts[i])
		value, valueErr := json.Marshal(parts[i+1])
		if err != nil || valueErr != nil {
			panic(fmt.Sprint("the test cannot be written: ", err, valueErr))
		}
		fmt.Fprintf(&b, ",%s:%s", name, value)
	}
	return []byte("{" + strings.TrimPrefix(b.String(), ",") + "}")
}

// failed is a failed result with a text block, more blocks and more members.
func failed(text string, blocks []any, members ...any) act {
	content := append([]any{object("type", "text", "text", text)}, blocks...)
	return act{Say: `"result":` + string(object(append([]any{"content", content, "isError", true}, members...)...))}
}

func refused(message string, data any) act {
	return act{Say: `"error":` + string(object("code", -32050, "message", message, "data", data))}
}

// leakyWays are the places that any upstream has, whatever it is reached by.
var leakyWays = []way{
	{"text", func(text, _ string) act { return failed(text, nil) }},
	{"several blocks", func(text, _ string) act {
		return failed("it failed", []any{object("type", "text", "text", "more: "+text), object("type", "text", "text", text)})
	}},
	{"structured content", func(text, secret string) act {
		return failed("it failed", nil, "structuredContent", object("error", text, "nested", []any{object("deep", secret)}))
	}},
	{"embedded resource", func(text, _ string) act {
		return failed("it failed", []any{object("type", "resource", "resource", object("uri", "log:///last", "text", text))})
	}},
	{"link", func(_, secret string) act {
		return failed("it failed", []any{object("type", "resource_link", "uri", "https://bot:"+secret+"@x.example/?token="+secret, "name", secret)})
	}},
	{"_meta", func(text, _ string) act {
		return failed("it failed", nil, "_meta", object("com.example/debug", object("said", text)))
	}},
	{"_meta of a block", func(text, _ string) act {
		return failed("it failed", []any{object("type", "text", "text", "x", "_meta", object("com.example/x", text))})
	}},
	{"name of a member", func(_, secret string) act {
		return failed("it failed", nil, "structuredContent", object("error", "denied", secret, 1))
	}},
	{"envelope", func(text, _ string) act {
		return failed(text, nil, "_meta", object("dev.candor/error", ownEnvelope(text)))
	}},
	{"message", func(text, _ string) act { return refused(text, object("a", 1)) }},
	{"message alone", func(text, _ string) act {
		return act{Say: `"error":` + string(object("code", -32603, "message", text))}
	}},
	{"message of a missing resource", func(text, _ string) act {
		return act{Say: `"error":` + string(object("code", -32002, "message", text, "data", object("uri", "file:///a")))}
	}},
	{"missing resource", func(_, secret string) act {
		return act{Say: `"error":` + string(object("code", -32002, "message", "not found", "data", object("uri", "https://bot:"+secret+"@x.example/")))}
	}},
	{"data", func(text, secret string) act {
		return refused("Navigation failed", object("said", text, "nested", []any{[]any{object("deep", secret)}}))
	}},
	{"text as data", func(text, _ string) act { return refused("Navigation failed", text) }},
	{"envelope in data", func(text, _ string) act {
		return refused(text, object("dev.candor/error", ownEnvelope(text)))
	}},
	{"error that is a text", func(text, _ string) act {
		b, _ := json.Marshal(text) // of a string it cannot fail
		return act{Say: `"error":` + string(b)}
	}},
	{"error without a number", func(text, _ string) act {
		return act{Say: `"error":` + string(object("message", text, "details", text))}
	}},
	{"beside the error", func(text, _ string) act {
		return act{Say: `"debug":` + string(object("said", text)) + `,` + refused("it failed", nil).Say}
	}},
	{"text with half a pair", func(text, _ string) act {
		a := refused("Navigation failed: half", text)
		a.Say = strings.Replace(a.Say, "half", `half \ud800`, 1)
		return a
	}},
	{"no version", func(text, _ string) act {
		return act{Say: `"jsonrpc":"1.0","result":` + string(object("isError", true, "content", []any{object("type", "text", "text", text)}))}
	}},
}

// ownEnvelope is a valid envelope that somebody has written by hand, with texts that package candor would not have let in. It claims to
// be the gateway's.
func ownEnvelope(text string) json.RawMessage {
	const mark = "the words"
	e := candor.New(candor.CodeUnavailable, mark, candor.WithSuggestion(mark), candor.WithOrigin(candor.PartyGateway, false), candor.WithRef(mark),
		candor.WithDetails(map[string]any{"reason": mark, "status": mark}), candor.WithCauseText(candor.NewCause(mark, mark, mark)),
		candor.WithContext(candor.Context{Role: mark, PlanHash: mark, PhaseID: mark, InvariantID: mark, SessionID: mark, Tool: mark}))
	words, _ := json.Marshal(text) // of a string it cannot fail
	return bytes.ReplaceAll(e.AppendJSON(nil, candor.JSONOptions{}), []byte(`"`+mark+`"`), words)
}

// childWays are those of a child that lives on.
var childWays = []way{
	{"noise", func(text, _ string) act {
		return act{Noise: strings.ReplaceAll(text, "\n", " ") + "\n", Say: failed("it failed", nil).Say}
	}},
	{"stderr that is passed on", func(text, _ string) act { return act{Stderr: text + "\n", Say: failed("it failed", nil).Say} }},
}

// httpWays are rejections without JSON-RPC.
var httpWays = []way{
	{"body of a 500", func(text, _ string) act { return act{Status: 500, Kind: "text/plain", Body: text} }},
	{"page of a 502", func(text, _ string) act {
		return act{Status: 502, Kind: "text/html", Body: "<html><pre>" + text + "</pre></html>"}
	}},
	{"JSON of a 422", func(text, secret string) act {
		return act{Status: 422, Kind: "application/json", Body: string(object("detail", text, "key", secret))}
	}},
	{"body of a 401", func(text, _ string) act { return act{Status: 401, Kind: "text/plain", Body: text} }},
	{"JSON of a 401", func(text, _ string) act {
		return act{Status: 401, Kind: "application/json", Body: string(object("error", "invalid_token", "error_description", text))}
	}},
	{"body of a 403", func(text, _ string) act { return act{Status: 403, Kind: "text/plain", Body: text} }},
	{"JSON-RPC with a 400", func(text, _ string) act {
		return act{Status: 400, Kind: "application/json", Body: `{"jsonrpc":"2.0","id":null,"error":` + string(object("code", -32000, "message", text)) + `}`}
	}},
	{"success that is no JSON", func(text, _ string) act { return act{Status: 200, Kind: "text/plain", Body: text} }},
	{"event", func(text, _ string) act {
		return act{Status: 200, Kind: "text/event-stream", Body: "data: {\"jsonrpc\":\"2.0\",\"id\":$id," + failed(text, nil).Say + "}\n\n"}
	}},
	{"event that is no message", func(text, _ string) act {
		return act{Status: 200, Kind: "text/event-stream", Body: "data: " + strings.ReplaceAll(text, "\n", " ") + "\n\n"}
	}},
}

// clientWays are requests that hold a secret, and a refusal might quote it.
var clientWays = map[string]string{
	"bad value of an argument":     `{"jsonrpc":"2.0","id":$id,"method":"tools/call","params":{"name":"strict","arguments":{"mode":"$secret","n":"$secret","key":"$secret"}}}`,
	"unknown argument":             `{"jsonrpc":"2.0","id":$id,"method":"tools/call","params":{"name":"strict","arguments":{"mode":"r","$secret":1}}}`,
	"arguments of a wrong type":    `{"jsonrpc":"2.0","id":$id,"method":"tools/call","params":{"name":"strict","arguments":"$secret"}}`,
	"name of a tool":               `{"jsonrpc":"2.0","id":$id,"method":"tools/call","params":{"name":"$secret","arguments":{}}}`,
	"name of a method":             `{"jsonrpc":"2.0","id":$id,"method":"$secret","params":{}}`,
	"params of a wrong type":       `{"jsonrpc":"2.0","id":$id,"method":"tools/call","params":"$secret"}`,
	"params of a wrong inner type": `{"jsonrpc":"2.0","id":$id,"method":"tools/call","params":{"name":{"x":"$secret"}}}`,
	"version":                      `{"jsonrpc":"$secret","id":$id,"method":"tools/list","params":{}}`,
	"duplicate member":             `{"jsonrpc":"2.0","id":$id,"method":"tools/list","params":{"$secret":1,"$secret":2}}`,
}

// plantAll puts every kind of secret into every second way, in each of the known places by turns, and across the edges at which texts
// are cut. The other ways are those of the other half.
func plantAll(r *rand.Rand, own []way, half int) (all []plant) {
	for i, maker := range planted.Makers {
		if testing.Short() && i%4 != 0 {
			continue
		}
		for j, w := range append(append([]way{}, leakyWays...), own...) {
			if (i+j)%2 != half {
				continue
			}
			secret := maker.Make(r)
			all = append(all, plant{way: w.name, kind: maker.Kind, secret: secret, act: w.act(planted.Places[(i+j)%len(planted.Places)].Text(secret), secret)})
			for _, edge := range edges[w.name] {
				if edge == 64<<10 && i%8 > 1 { // they take long
					continue
				}
				secret := maker.Make(r)
				all = append(all, plant{way: fmt.Sprint(w.name, " across ", edge), kind: maker.Kind, secret: secret, act: w.act(across(edge, i+j, secret), secret)})
			}
		}
		for name, line := range clientWays {
			all = append(all, plant{way: name, kind: maker.Kind, secret: maker.Make(r), line: line})
		}
	}
	return all
}

// edges are where the text of a way is cut, on its way to the client, the log or the ledger.
var edges = map[string][]int{
	"text": {candor.MaxMessage, 64 << 10}, "message": {candor.MaxMessage, 64 << 10}, "text as data": {4 << 10},
	"body of a 500": {512, 2048}, "body of a 403": {64 << 10}, "noise": {256, 4 << 10}, "stderr that is passed on": {64 << 10},
}

// across is a text in which a secret lies across an edge.
func across(edge, turn int, secret string) string {
	inside := []int{9, 12, len(secret) / 2, len(secret) - 1}[turn%4] // bytes of it before the edge
	return strings.Repeat("word ", edge/5+1)[:edge-1-inside] + " " + secret + " and more"
}

// request is the line of a plant; its id is its number.
func (p plant) request(id int) string {
	line := p.line
	if line == "" {
		line = `{"jsonrpc":"2.0","id":$id,"method":"tools/call","params":{"name":"leak","arguments":{"n":$id}}}`
	}
	return strings.NewReplacer("$id", strconv.Itoa(id), "$secret", p.secret).Replace(line)
}

const strictTools = `"result":{"tools":[{"name":"leak","inputSchema":{"type":"object"}},{"name":"strict","inputSchema":{"type":"object",` +
	`"required":["mode"],"additionalProperties":false,"properties":{"mode":{"type":"string","enum":["r","w"]},"n":{"type":"integer"},"key":{"type":"string","maxLength":3}}}}]}`

// perform says which act a request asks for.
func perform(acts []act, request []byte) (id json.RawMessage, a act) {
	var r struct {
		ID     json.RawMessage
		Method string
		Params struct{ Arguments struct{ N int } }
	}
	if err := json.Unmarshal(request, &r); err != nil {
		return nil, act{}
	}
	switch r.Method {
	case "tools/call":
		return r.ID, acts[r.Params.Arguments.N]
	case "tools/list":
		return r.ID, act{Say: strictTools}
	case "initialize":
		return r.ID, act{Say: `"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"leaky","version":"1"}}`}
	default:
		return r.ID, act{Say: `"error":` + string(object("code", -32601, "message", "unknown method "+r.Method))}
	}
}

// answer is the whole message that an act says.
func (a act) answer(id json.RawMessage) string {
	if strings.HasPrefix(a.Say, `"jsonrpc"`) {
		return fmt.Sprintf(`{"id":%s,%s}`, id, a.Say)
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, id, a.Say)
}

// leakyEnv names the file of acts that makes a process of this test binary a server.
const leakyEnv = "CANDOR_TEST_LEAKY"

// TestLeakyServerProcess is no test but the server that others start.
func TestLeakyServerProcess(t *testing.T) {
	name := os.Getenv(leakyEnv)
	if name == "" {
		return // it is only for the tests that start it
	}
	var acts []act
	b, err := os.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(b, &acts)
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(os.Stdin)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			os.Exit(0)
		}
		id, a := perform(acts, line)
		_, _ = io.WriteString(os.Stderr, a.Stderr)
		_, _ = io.WriteString(os.Stdout, a.Noise)
		if a.Exit != 0 {
			os.Exit(a.Exit)
		}
		if id != nil {
			_, _ = io.WriteString(os.Stdout, a.answer(id)+"\n")
		}
	}
}

// scene is a gateway with everything that somebody could read.
type scene struct {
	dir    string
	ledger *ledger.Ledger
	meter  *meter.Meter
	log    page
	stderr page
}

// page is a text that many may write.
type page struct {
	mu   sync.Mutex
	text strings.Builder
}

func (p *page) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(b)
}

func (p *page) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

func newScene(t *testing.T) *scene {
	t.Helper()
	s := &scene{dir: t.TempDir()}
	var err error
	if s.ledger, err = ledger.Open(s.dir, ledger.Options{}); err != nil {
		t.Fatal(err)
	}
	if s.meter, err = meter.New(meter.Options{}); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *scene) options(mode gateway.Mode) gateway.Options {
	return gateway.Options{
		Name: "leaky", Mode: mode, Ledger: trail.Of(s.ledger), Meter: s.meter,
		Logger:  slog.New(slog.NewTextHandler(&s.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Repeats: gateway.RepeatPolicy{Off: true}, Breaker: gateway.BreakerPolicy{Off: true},
	}
}

// child is a server that does what the plants say.
func (s *scene) child(t *testing.T, all []plant) gateway.Child {
	t.Helper()
	acts := make([]act, len(all))
	for i, p := range all {
		acts[i] = p.act
	}
	script, err := json.Marshal(acts)
	if err != nil {
		t.Fatal(err)
	}
	name := t.TempDir() + "/acts.json"
	if err := os.WriteFile(name, script, 0o600); err != nil {
		t.Fatal(err)
	}
	return gateway.Child{
		Command: os.Args[0], Args: []string{"-test.run=^TestLeakyServerProcess$"}, Env: append(os.Environ(), leakyEnv+"="+name, "GORACE=atexit_sleep_ms=0"),
		Stderr: &s.stderr, RedactStderr: true, Grace: time.Second,
	}
}

// wrap sends the plants to a child through a gateway, and returns the answers by their number.
func (s *scene) wrap(t *testing.T, mode gateway.Mode, all []plant) []string {
	t.Helper()
	child := s.child(t, all)
	fromClient, in := io.Pipe()
	fromGateway, out := io.Pipe()
	go func() {
		if _, err := gateway.New(s.options(mode)).Wrap(context.Background(), gateway.Streams{In: fromClient, Out: out}, child); err != nil {
			t.Error(err)
		}
		_ = out.Close()
	}()
	answers := make([]string, len(all))
	lines := bufio.NewReader(fromGateway)
	next := func() string {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("the gateway says no more: %v\n%s", err, s.log.String())
		}
		return line
	}
	_, _ = io.WriteString(in, `{"jsonrpc":"2.0","id":"tools","method":"tools/list"}`+"\n")
	next()
	open := make(chan struct{}, 256) // so that none is refused because there are too many
	go func() {
		for i, p := range all {
			open <- struct{}{}
			_, _ = io.WriteString(in, p.request(i)+"\n")
		}
	}()
	for range all {
		note(t, answers, next())
		<-open
	}
	_ = in.Close()
	_, _ = io.Copy(io.Discard, lines)
	return answers
}

// note files an answer under its number.
func note(t *testing.T, answers []string, line string) {
	t.Helper()
	m := struct{ ID *int }{}
	if err := json.Unmarshal([]byte(line), &m); err != nil || m.ID == nil || *m.ID >= len(answers) || answers[*m.ID] != "" {
		t.Fatalf("the client gets %s (%v)", line, err)
	}
	answers[*m.ID] = line
}

// door sends the plants to an upstream over HTTP through a gateway, and returns the bodies of the answers.
func (s *scene) door(t *testing.T, mode gateway.Mode, all []plant) []string {
	t.Helper()
	acts := make([]act, len(all))
	for i, p := range all {
		acts[i] = p.act
	}
	upstream := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		id, a := perform(acts, body)
		if a.Status == 0 {
			a = act{Status: 200, Kind: "application/json", Body: a.answer(id)}
		}
		w.Header().Set("Content-Type", a.Kind)
		w.WriteHeader(a.Status)
		_, _ = io.WriteString(w, strings.ReplaceAll(a.Body, "$id", string(id)))
	})
	url := s.front(t, upstream, mode)
	return postAll(t, url, all, func(p plant) string { return "session-of-" + p.secret })
}

// bridge sends the plants to a child that is served over HTTP.
func (s *scene) bridge(t *testing.T, mode gateway.Mode, all []plant) []string {
	t.Helper()
	b := gateway.New(s.options(mode)).Bridge(s.child(t, all), gateway.BridgeOptions{})
	front := httptest.NewServer(b)
	t.Cleanup(func() {
		front.CloseClientConnections()
		_ = b.Close(context.Background())
		front.Close()
	})
	hello := send(t, http.MethodPost, front.URL, `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25",`+
		`"capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	session := hello.header.Get("Mcp-Session-Id")
	if session == "" {
		t.Fatalf("no session: %d %s", hello.status, hello.body)
	}
	send(t, http.MethodPost, front.URL, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, "Mcp-Session-Id", session)
	return postAll(t, front.URL, all, func(plant) string { return session })
}

// postAll sends the plants over HTTP, and returns the bodies of the answers.
func postAll(t *testing.T, url string, all []plant, session func(plant) string) []string {
	t.Helper()
	send(t, http.MethodPost, url, `{"jsonrpc":"2.0","id":"tools","method":"tools/list"}`, "Mcp-Session-Id", session(plant{}))
	answers := make([]string, len(all))
	var group sync.WaitGroup
	for worker := range 16 {
		group.Go(func() {
			for i := worker; i < len(all); i += 16 {
				got := send(t, http.MethodPost, url, all[i].request(i), "Mcp-Session-Id", session(all[i]))
				answers[i] = string(got.body)
				if got.err != nil || answers[i] == "" && got.status != 401 && got.status != 403 {
					t.Errorf("%s: %d %q %v", all[i].way, got.status, got.body, got.err)
				}
			}
		})
	}
	group.Wait()
	return answers
}

// front serves an upstream through a gateway, and returns where.
func (s *scene) front(t *testing.T, upstream http.Handler, mode gateway.Mode) string {
	t.Helper()
	back := httptest.NewServer(upstream)
	t.Cleanup(back.Close)
	target, err := url.Parse(back.URL + "/mcp")
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewServer(gateway.New(s.options(mode)).Door(target, gateway.HTTPOptions{}))
	t.Cleanup(front.Close)
	return front.URL
}

// inspect looks for every planted secret where anybody could see it.
func (s *scene) inspect(t *testing.T, all []plant, answers []string) {
	t.Helper()
	if err := s.ledger.Close(); err != nil {
		t.Error(err)
	}
	leaks, kinds := map[string]int{}, map[string]bool{}
	for i, p := range all {
		kinds[p.kind] = true
		if strings.Contains(answers[i], "TOO_MANY_CALLS") {
			t.Errorf("%s: the upstream was not asked", p.way)
		}
		if piece := planted.Leaked(answers[i], p.secret); piece != "" {
			if leaks[p.way]++; leaks[p.way] == 1 {
				t.Errorf("%s (%s): the client sees %q of %q in %.3000s", p.way, p.kind, piece, p.secret, answers[i])
			}
		}
	}
	for name, n := range leaks {
		t.Errorf("%s: %d secrets reached the client", name, n)
	}
	text, err := prom.Text(s.meter)
	if err != nil {
		t.Fatal(err)
	}
	found := piecesOf(all)
	found.in(t, "the metrics", text+string(s.meter.AppendStats(nil)))
	found.in(t, "the log", s.log.String())
	found.in(t, "the error output", s.stderr.String())
	found.in(t, "the ledger", filesOf(t, s.dir))
	t.Logf("%d secrets of %d kinds; %d bytes in the ledger, %d in the log, %d of stderr", len(all), len(kinds), len(filesOf(t, s.dir)),
		len(s.log.String()), len(s.stderr.String()))
	if !testing.Short() && len(kinds) < 40 {
		t.Error("too few kinds of secrets to mean anything")
	}
}

// pieces finds pieces of many secrets in one pass. They are longer than those of [planted.Leaked], because a ledger is full of digests.
type pieces struct {
	of    map[string]plant
	begin []bool // by a digest of the first bytes: nearly all of a text is passed over at little cost
}

const pieceBytes = 12

func piecesOf(all []plant) pieces {
	s := pieces{map[string]plant{}, make([]bool, 1<<20)}
	for _, p := range all {
		for i := 0; i+pieceBytes <= len(p.secret); i++ {
			s.of[p.secret[i:i+pieceBytes]] = p
			s.begin[digest4(p.secret[i:])] = true
		}
	}
	return s
}

func digest4(s string) uint32 {
	return (uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24) * 2654435761 >> 12
}

func (s pieces) in(t *testing.T, where, text string) {
	t.Helper()
	found := map[string]int{}
	for i := 0; i+pieceBytes <= len(text); i++ {
		if !s.begin[digest4(text[i:])] {
			continue
		}
		if p, ok := s.of[text[i:i+pieceBytes]]; ok {
			if found[p.way]++; found[p.way] == 1 {
				t.Errorf("%s (%s): %s has %q of %q: %s", p.way, p.kind, where, text[i:i+pieceBytes], p.secret, text[max(0, i-200):min(len(text), i+200)])
			}
		}
	}
}

// filesOf returns the bytes of all files below a folder.
func filesOf(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(os.DirFS(dir), name)
		all.Write(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// redacting are the modes that R12 binds.
var redacting = []gateway.Mode{gateway.ModeAnnotate, gateway.ModeStrict}

// TestR12NoPlantedSecretOfAChildGetsOut goes through a wrapped child.
func TestR12NoPlantedSecretOfAChildGetsOut(t *testing.T) {
	for half, mode := range redacting {
		t.Run(string(mode), func(t *testing.T) {
			s, all := newScene(t), plantAll(rand.New(rand.NewPCG(1, 2)), childWays, half)
			s.inspect(t, all, s.wrap(t, mode, all))
			if !testing.Short() && len(all) < 1000 {
				t.Errorf("%d secrets are too few", len(all))
			}
		})
	}
}

// TestR12NoPlantedSecretGetsOutOverHTTP goes through a door; each secret is in the id of a session, too.
func TestR12NoPlantedSecretGetsOutOverHTTP(t *testing.T) {
	for half, mode := range redacting {
		t.Run(string(mode), func(t *testing.T) {
			s, all := newScene(t), plantAll(rand.New(rand.NewPCG(3, 4)), httpWays, half)
			s.inspect(t, all, s.door(t, mode, all))
			if !testing.Short() && len(all) < 1000 {
				t.Errorf("%d secrets are too few", len(all))
			}
		})
	}
}

// TestR12NoPlantedSecretGetsOutOfABridge goes through a child that is served over HTTP.
func TestR12NoPlantedSecretGetsOutOfABridge(t *testing.T) {
	for half, mode := range redacting {
		s, all := newScene(t), plantAll(rand.New(rand.NewPCG(25, 26)), childWays, half)
		s.inspect(t, all, s.bridge(t, mode, all))
	}
}

// TestR12NoSecretIsToldOfADeath has children die with secrets in their last words and in what they print, some of them where these are cut.
func TestR12NoSecretIsToldOfADeath(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for start := 0; start < len(planted.Makers); start += 8 {
		var all []plant
		words, noise := "", ""
		for i, maker := range planted.Makers[start:min(start+8, len(planted.Makers))] {
			secret := maker.Make(r)
			all = append(all, plant{way: "last words", kind: maker.Kind, secret: secret})
			words += planted.Places[(start+i)%len(planted.Places)].Text(secret) + "\n"
			secret = maker.Make(r)
			all = append(all, plant{way: "noise", kind: maker.Kind, secret: secret})
			noise += strings.ReplaceAll(across([]int{1, 256, 4 << 10}[i%3]+len(secret), i, secret), "\n", " ") + "\n"
		}
		for _, edge := range []int{1 << 10, 16 << 10} { // counted from the end: what is shown, what is kept
			maker := planted.Makers[(start+edge)%len(planted.Makers)]
			secret := maker.Make(r)
			all = append(all, plant{way: fmt.Sprint("last words across ", edge), kind: maker.Kind, secret: secret})
			words = "token " + secret + strings.Repeat(" word", edge)[:max(0, edge-len(words)-len(secret)/2)] + "\n" + words
		}
		for i := range all {
			all[i].act = act{Noise: noise, Stderr: words + "over and out\n", Exit: 3}
		}
		mode := redacting[start/8%2]
		s := newScene(t)
		answers := s.wrap(t, mode, all)
		if told := strings.Contains(answers[0], `over and out"`); !strings.Contains(answers[0], `"exitCode":3`) || told != (mode == gateway.ModeAnnotate) {
			t.Fatalf("%s: %s", mode, answers[0])
		}
		for i := range answers {
			answers[i] = answers[0]
		}
		s.inspectDeath(t, all, answers)
	}
}

// inspectDeath is inspect for the few secrets of one death.
func (s *scene) inspectDeath(t *testing.T, all []plant, answers []string) {
	t.Helper()
	if err := s.ledger.Close(); err != nil {
		t.Error(err)
	}
	for i, p := range all {
		if piece := planted.Leaked(answers[i], p.secret); piece != "" {
			t.Errorf("%s (%s): the client sees %q of %q in %s", p.way, p.kind, piece, p.secret, answers[i])
		}
	}
	found := piecesOf(all)
	found.in(t, "the log", s.log.String())
	found.in(t, "the error output", s.stderr.String())
	found.in(t, "the ledger", filesOf(t, s.dir))
}

// TestR12RealErrorsStayAsTheyAre counts the recorded failures of real servers in which something was taken for a secret.
func TestR12RealErrorsStayAsTheyAre(t *testing.T) {
	records, err := corpus.Load(corpus.Failures)
	if errors.Is(err, corpus.ErrAbsent) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	var all []plant
	for _, r := range records {
		var whole struct{ Result, Error json.RawMessage }
		var m struct {
			Result struct{ Content json.RawMessage }
			Error  struct{ Message json.RawMessage }
		}
		if json.Unmarshal(r.Response, &whole) != nil || json.Unmarshal(r.Response, &m) != nil || !r.Flagged() || len(all) == 2000 || testing.Short() && len(all) == 200 {
			continue
		}
		say, words := `"result":`+string(whole.Result), string(m.Result.Content)
		if m.Error.Message != nil {
			say, words = `"error":`+string(whole.Error), string(m.Error.Message)
		}
		all = append(all, plant{way: r.Server + " " + r.Tool + " " + r.Case, act: act{Say: say}, secret: strings.Trim(words, "[]")})
	}
	s := newScene(t)
	answers := s.wrap(t, gateway.ModeAnnotate, all)
	wrong := 0
	for i, p := range all {
		if strings.Count(answers[i], "[redacted") > strings.Count(p.act.Say, "[redacted") || !strings.Contains(answers[i], p.secret) {
			wrong++
			t.Logf("%s: %.600s became %.1200s", p.way, p.act.Say, answers[i])
		}
	}
	t.Logf("%d of %d errors were changed", wrong, len(all))
	if wrong*100 > len(all) {
		t.Error("more than 1 % of clean errors were changed")
	}
}
