package natsshare_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/cluster/internal/engines"
	"github.com/candor-mcp/candor/cmd/cluster/internal/testing/natscluster"
	"github.com/candor-mcp/candor/cmd/internal/cli"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
)

// runVariable makes the test binary behave as candor-cluster.
const runVariable = "CANDOR_TEST_RUN_CLUSTER"

func TestMain(m *testing.M) {
	if os.Getenv(runVariable) != "" {
		env := term.ProcessEnv()
		engines.Register(env)
		os.Exit(cli.Run(env, os.Args[1:]))
	}
	os.Exit(m.Run())
}

// toolServer is an MCP server over HTTP whose tool fails, or that does not answer.
type toolServer struct {
	*httptest.Server
	calls   atomic.Int64
	fails   atomic.Bool // the tool reports a failure
	away    atomic.Bool // requests are refused with 503
	unknown atomic.Bool // failures have a code of a later version
}

func newToolServer(t *testing.T) *toolServer {
	t.Helper()
	s := &toolServer{}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

func (s *toolServer) serve(w http.ResponseWriter, r *http.Request) {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	if json.NewDecoder(r.Body).Decode(&m) != nil || m.Method != "tools/call" {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	s.calls.Add(1)
	if s.away.Load() {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Mcp-Session-Id", r.Header.Get("Mcp-Session-Id"))
	result := `{"content":[{"type":"text","text":"done"}]}`
	switch {
	case s.unknown.Load():
		result = `{"content":[{"type":"text","text":"x"}],"isError":true,"_meta":{"dev.candor/error":` + laterEnvelope + `}}`
	case s.fails.Load():
		result = `{"content":[{"type":"text","text":"ENOENT: no such file or directory"}],"isError":true}`
	}
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
}

// gatewayProcess is a candor-cluster gateway.
type gatewayProcess struct {
	t      *testing.T
	url    string // of the upstream
	admin  string
	output *lockedBuffer
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

var listening = regexp.MustCompile(`listening on (http://\S+)[\s\S]*health and metrics on (http://[^/\s]+)`)

// startGateway starts a gateway that shares at the address, and waits until it listens. Extra is added to the upstream.
func startGateway(t *testing.T, s *toolServer, address, extra string) *gatewayProcess {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "candor.yaml")
	text := fmt.Sprintf("version: 1\nlisten: 127.0.0.1:0\nadmin: 127.0.0.1:0\nledger: none\nshare: %q\nshareKey: ${SHARE_KEY}\nupstreams:\n  tools:\n    url: %s\n    share: true\n%s",
		address, s.URL, extra)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	g := &gatewayProcess{t: t, output: &lockedBuffer{}}
	cmd := exec.CommandContext(t.Context(), self, "gateway", "--config", file)
	cmd.Env = append(os.Environ(), runVariable+"=1", "SHARE_KEY=a secret of all nodes", "XDG_STATE_HOME="+dir)
	cmd.Stdout, cmd.Stderr = g.output, g.output
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()         // it was killed
	})
	eventually(t, "the gateway", func() bool {
		found := listening.FindStringSubmatch(g.output.String())
		if found == nil {
			return false
		}
		g.url, g.admin = found[1]+"/tools/", found[2]
		return true
	})
	return g
}

// answer is what a client sees of a failed call.
type answer struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Retry   struct {
		Kind    string `json:"kind"`
		AfterMs int    `json:"afterMs"`
	} `json:"retry"`
	Details struct {
		ReportedBy string `json:"reportedBy"`
		Code       string `json:"code"`
	} `json:"details"`
}

// call calls the tool in a session. The answer is empty for a success.
func (g *gatewayProcess) call(session, arguments string) answer {
	g.t.Helper()
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read","arguments":%s}}`, arguments)
	request, err := http.NewRequestWithContext(g.t.Context(), http.MethodPost, g.url, strings.NewReader(body))
	if err != nil {
		g.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	request.Header.Set("Mcp-Session-Id", session)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		g.t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // it was read
	text, err := io.ReadAll(response.Body)
	if err != nil {
		g.t.Fatal(err)
	}
	var m struct {
		Result struct {
			IsError bool                       `json:"isError"`
			Meta    map[string]json.RawMessage `json:"_meta"`
		} `json:"result"`
		Error *struct {
			Data answer `json:"data"`
		} `json:"error"`
	}
	if err := json.Unmarshal(text, &m); err != nil {
		g.t.Fatalf("%s: %s", err, text)
	}
	var a answer
	for _, raw := range m.Result.Meta {
		_ = json.Unmarshal(raw, &a) // other members of _meta are no errors
	}
	if m.Error != nil {
		a = m.Error.Data
	}
	if m.Result.IsError && a.Code == "" {
		g.t.Fatalf("a failure without a code: %s", text)
	}
	return a
}

// shareState is the part of /status about sharing.
type shareState struct {
	Connected bool   `json:"connected"`
	Problem   string `json:"problem"`
	Ignored   int    `json:"ignored"`
	Reports   int    `json:"reports"`
	Received  int    `json:"received"`
	Nodes     []struct {
		Node string `json:"node"`
		Same bool   `json:"same"`
	} `json:"nodes"`
	Codes []struct {
		Code string `json:"code"`
		Node string `json:"node"`
		Says string `json:"says"`
	} `json:"codes"`
}

func (g *gatewayProcess) status() shareState {
	g.t.Helper()
	request, err := http.NewRequestWithContext(g.t.Context(), http.MethodGet, g.admin+"/status", nil)
	if err != nil {
		g.t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		g.t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // it was read
	var s struct {
		Share shareState `json:"share"`
	}
	if err := json.NewDecoder(response.Body).Decode(&s); err != nil {
		g.t.Fatal(err)
	}
	return s.Share
}

// awaitPeers waits until gateways know each other.
func awaitPeers(t *testing.T, all ...*gatewayProcess) {
	t.Helper()
	for _, g := range all {
		eventually(t, "the other gateways", func() bool { return len(g.status().Nodes) >= len(all)-1 })
	}
}

// twoGateways starts a cluster and two gateways for one server.
func twoGateways(t *testing.T, extra string) (*natscluster.Cluster, *toolServer, *gatewayProcess, *gatewayProcess) {
	t.Helper()
	c := natscluster.Start(t, natscluster.Options{})
	setUp(t, connect(t, c.URL()))
	s := newToolServer(t)
	a, b := startGateway(t, s, c.URL()+"?node=a", extra), startGateway(t, s, c.URL()+"?node=b", extra)
	awaitPeers(t, a, b)
	return c, s, a, b
}

// longWindow makes the time before a trial longer than a test.
const longWindow = "    repeats: {after: 3, window: 1h}\n    breaker: {failures: 3, rest: 10m}\n"

func TestLoopStoppedOnOneGatewayIsStoppedOnTheOther(t *testing.T) {
	_, s, a, b := twoGateways(t, longWindow)
	s.fails.Store(true)
	for range 3 {
		a.call("session-1", `{"path":"x"}`)
	}
	if got := a.call("session-1", `{"path":"x"}`); got.Code != "REPEATED_FAILURE" {
		t.Fatalf("on the same gateway: %+v", got)
	}
	eventually(t, "the report", func() bool { return b.status().Reports > 0 })
	reached := s.calls.Load()
	if got := b.call("session-1", `{"path":"x"}`); got.Code != "REPEATED_FAILURE" || got.Details.ReportedBy != "a" {
		t.Errorf("on the other gateway: %+v", got)
	}
	if s.calls.Load() != reached {
		t.Error("the call reached the server")
	}
	for session, arguments := range map[string]string{"session-1": `{"path":"y"}`, "session-2": `{"path":"x"}`} {
		if got := b.call(session, arguments); got.Code == "REPEATED_FAILURE" {
			t.Errorf("%s %s is refused too: %+v", session, arguments, got)
		}
	}
}

func TestBreakerOpenedOnOneGatewayRefusesOnTheOther(t *testing.T) {
	_, s, a, b := twoGateways(t, longWindow)
	s.away.Store(true)
	for i := range 3 {
		a.call("session-1", fmt.Sprintf(`{"i":%d}`, i))
	}
	reached := s.calls.Load()
	var got answer
	eventually(t, "the refusal", func() bool {
		got = b.call("session-2", fmt.Sprintf(`{"t":%d}`, time.Now().UnixNano()))
		return got.Code == "CIRCUIT_OPEN"
	})
	if got.Details.ReportedBy != "a" || got.Details.Code == "" || got.Retry.AfterMs <= 0 || got.Retry.Kind != "retryable_after_ms" {
		t.Errorf("the refusal does not say why and when to retry: %+v", got)
	}
	if n := s.calls.Load() - reached; n > 2 { // before the report arrived
		t.Errorf("%d calls reached the server", n)
	}
}

// A call that would succeed is refused for one interval between trials and no longer, although the report is repeated all the time.
func TestFalseReportDelaysOnlyUntilTheTrial(t *testing.T) {
	c, s, a, b := twoGateways(t, "    breaker: {failures: 3, rest: 1s}\n    repeats: off\n")
	conn := connect(t, c.URL())
	sub, err := conn.SubscribeSync("$KV.CANDOR_SHARED.a.breaker.*")
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Flush(); err != nil { // the server has the subscription before the report
		t.Fatal(err)
	}
	s.away.Store(true)
	for i := range 3 {
		a.call("session-1", fmt.Sprintf(`{"i":%d}`, i))
	}
	report, err := sub.NextMsg(10 * time.Second)
	if err != nil {
		t.Fatal(err)
	}
	s.away.Store(false)
	lie := func() {
		subject := strings.Replace(report.Subject, ".a.", ".liar.", 1)
		if err := conn.Publish(subject, report.Data); err != nil {
			t.Fatal(err)
		}
	}
	refused, began := 0, time.Now()
	eventually(t, "an answer", func() bool {
		lie()
		if b.call("session-2", `{}`).Code == "" {
			return true
		}
		refused++
		return false
	})
	t.Logf("%d calls refused within %v", refused, time.Since(began))
	for range 50 { // the report was refuted
		lie()
		if got := b.call("session-2", `{}`); got.Code != "" {
			t.Fatalf("refused again: %+v", got)
		}
	}
}

func TestGatewaysGoOnAloneWithoutTheCluster(t *testing.T) {
	c, s, a, b := twoGateways(t, longWindow)
	c.Servers[0].Kill()
	for _, g := range []*gatewayProcess{a, b} {
		eventually(t, "the loss of the connection", func() bool { return !g.status().Connected })
		if got := g.call("session-1", `{"path":"x"}`); got.Code != "" {
			t.Errorf("a call that succeeds: %+v", got)
		}
	}
	s.fails.Store(true)
	for range 3 {
		a.call("session-1", `{"path":"x"}`)
	}
	if got := a.call("session-1", `{"path":"x"}`); got.Code != "REPEATED_FAILURE" {
		t.Errorf("the own guard: %+v", got)
	}
	if got := b.call("session-1", `{"path":"x"}`); got.Code == "REPEATED_FAILURE" {
		t.Errorf("the other gateway: %+v", got)
	}
	alone := startGateway(t, s, c.URL()+"?node=c", longWindow) // it starts without the cluster
	if got := alone.call("session-3", `{"path":"x"}`); got.Code == "" || got.Code == "REPEATED_FAILURE" {
		t.Errorf("a gateway that was started without the cluster: %+v", got)
	}
	if err := c.Servers[0].Start(); err != nil {
		t.Fatal(err)
	}
	awaitPeers(t, a, b, alone)
}

func TestCallsPassWhileTheClusterIsStalled(t *testing.T) {
	c, s, a, b := twoGateways(t, "    repeats: {after: 2, window: 1h}\n")
	if err := c.Servers[0].Pause(); err != nil {
		t.Fatal(err)
	}
	s.fails.Store(true)
	for i := range 300 { // each is reported to the others
		for range 2 {
			if got := a.call("session-1", fmt.Sprintf(`{"path":"%d"}`, i)); got.Code == "" {
				t.Fatalf("call %d: %+v", i, got)
			}
		}
	}
	s.fails.Store(false)
	if got := b.call("session-1", `{"path":"x"}`); got.Code != "" {
		t.Errorf("the other gateway: %+v", got)
	}
	if err := c.Servers[0].Continue(); err != nil {
		t.Fatal(err)
	}
}

func TestGarbageAndFloodsInTheBucketAreIgnored(t *testing.T) {
	c, s, a, b := twoGateways(t, longWindow)
	conn := connect(t, c.URL())
	const garbage = 300
	for i := range garbage {
		for _, key := range []string{"hostile.breaker.zz", "hostile.repeat." + strings.Repeat("0", 32), "hostile.nonsense", "hostile", "bad node.catalogue"} {
			if err := conn.Publish("$KV.CANDOR_SHARED."+strings.ReplaceAll(key, " ", "%"), bytes.Repeat([]byte{byte(i)}, i*10)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i := range 2000 {
		report := fmt.Sprintf(`{"session":"%032x","tool":"%032x","code":"candor/NOT_FOUND","count":5}`, i, i)
		if err := conn.Publish(fmt.Sprintf("$KV.CANDOR_SHARED.flood.repeat.%032x", i), []byte(report)); err != nil {
			t.Fatal(err)
		}
	}
	if err := conn.Flush(); err != nil {
		t.Fatal(err)
	}
	for name, g := range map[string]*gatewayProcess{"a": a, "b": b} {
		eventually(t, "the flood", func() bool { s := g.status(); return s.Ignored >= 2000-256+4*garbage })
		if s := g.status(); s.Reports != 256 || !s.Connected {
			t.Errorf("%s: %+v", name, s)
		}
		if got := g.call("session-1", `{"path":"x"}`); got.Code != "" {
			t.Errorf("%s: a call that succeeds: %+v", name, got)
		}
	}
	if s.calls.Load() != 2 {
		t.Errorf("%d calls reached the server", s.calls.Load())
	}
	late := startGateway(t, s, c.URL()+"?node=late", longWindow) // it reads the bucket with the flood
	if got := late.call("session-1", `{"path":"x"}`); got.Code != "" {
		t.Errorf("late: %+v", got)
	}
}

const laterEnvelope = `{"code":"FROM_THE_FUTURE","domain":"candor","number":4999,"class":"unavailable","retry":{"kind":"not_retryable"},"message":"x","ref":"r-1",
	"origin":{"by":"tool","inferred":false},"timestamp":"2026-11-15T01:21:55.016Z"}`

func TestCodesOfALaterVersionAreExplained(t *testing.T) {
	c, s, a, _ := twoGateways(t, longWindow)
	conn := connect(t, c.URL())
	s.unknown.Store(true)
	eventually(t, "the unknown code", func() bool {
		a.call("session-1", fmt.Sprintf(`{"t":%d}`, time.Now().UnixNano()))
		return len(a.status().Codes) == 1
	})
	if err := conn.Publish("$KV.CANDOR_SHARED.newer.code.FROM_THE_FUTURE", []byte(`{"code":"FROM_THE_FUTURE","class":"unavailable","says":"The future is away."}`)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the explanation", func() bool {
		codes := a.status().Codes
		return codes[0].Says == "The future is away." && codes[0].Node == "newer"
	})
	sub, err := conn.SubscribeSync("$KV.CANDOR_SHARED.*.code.RATE_LIMITED")
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Publish("$KV.CANDOR_SHARED.older.catalogue", []byte(`{"version":"v0","unknown":["RATE_LIMITED"]}`)); err != nil {
		t.Fatal(err)
	}
	if m, err := sub.NextMsg(10 * time.Second); err != nil || !bytes.Contains(m.Data, []byte(`"class":"rate_limited"`)) {
		t.Errorf("an older node got no explanation: %v", err)
	}
}
