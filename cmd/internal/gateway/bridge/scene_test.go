package bridge_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/candor-mcp/candor/adapters/prom"
	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/gateway/bridge"
	"github.com/candor-mcp/candor/cmd/internal/gateway/httpgate"
	"github.com/candor-mcp/candor/cmd/internal/gateway/stdio"
	"github.com/candor-mcp/candor/cmd/internal/testing/httpgatetest"
	"github.com/candor-mcp/candor/internal/testing/planted"
	"github.com/candor-mcp/candor/ledger"
	"github.com/candor-mcp/candor/meter"
)

// leakyEnv names the file of acts that makes a process of this test binary a server.
const leakyEnv = "CANDOR_TEST_LEAKY"

// TestLeakyServerProcess is not a test, but the server that other tests start.
func TestLeakyServerProcess(t *testing.T) {
	name := os.Getenv(leakyEnv)
	if name == "" {
		return // it runs only in processes that tests start
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

// scene is a gateway with all of its outputs.
type scene struct {
	dir    string
	ledger *ledger.Ledger
	meter  *meter.Meter
	log    planted.Page
	stderr planted.Page
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
		Name: "leaky", Mode: mode, Ledger: s.ledger, Meter: s.meter,
		Logger:  slog.New(slog.NewTextHandler(&s.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Repeats: gateway.RepeatPolicy{Off: true}, Breaker: gateway.BreakerPolicy{Off: true},
	}
}

// child returns a server that performs the acts of the plants.
func (s *scene) child(t *testing.T, all []plant) stdio.Child {
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
	return stdio.Child{
		Command: os.Args[0], Args: []string{"-test.run=^TestLeakyServerProcess$"}, Env: append(os.Environ(), leakyEnv+"="+name, "GORACE=atexit_sleep_ms=0"),
		Stderr: &s.stderr, RedactStderr: true, Grace: time.Second,
	}
}

// wrap sends the plants to a child through a gateway, and returns the answers by number.
func (s *scene) wrap(t *testing.T, mode gateway.Mode, all []plant) []string {
	t.Helper()
	child := s.child(t, all)
	fromClient, in := io.Pipe()
	fromGateway, out := io.Pipe()
	go func() {
		if _, err := stdio.Wrap(context.Background(), gateway.New(s.options(mode)), stdio.Streams{In: fromClient, Out: out}, child); err != nil {
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
	open := make(chan struct{}, 256) // so that no call is refused because there are too many
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

// note stores an answer by its number.
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
	b := bridge.New(gateway.New(s.options(mode)), s.child(t, all), bridge.Options{})
	front := httptest.NewServer(b)
	t.Cleanup(func() {
		front.CloseClientConnections()
		_ = b.Close(context.Background())
		front.Close()
	})
	hello := httpgatetest.Send(t, http.MethodPost, front.URL, `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25",`+
		`"capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	session := hello.Header.Get("Mcp-Session-Id")
	if session == "" {
		t.Fatalf("no session: %d %s", hello.Status, hello.Body)
	}
	httpgatetest.Send(t, http.MethodPost, front.URL, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, "Mcp-Session-Id", session)
	return postAll(t, front.URL, all, func(plant) string { return session })
}

// postAll sends the plants over HTTP, and returns the bodies of the answers.
func postAll(t *testing.T, url string, all []plant, session func(plant) string) []string {
	t.Helper()
	httpgatetest.Send(t, http.MethodPost, url, `{"jsonrpc":"2.0","id":"tools","method":"tools/list"}`, "Mcp-Session-Id", session(plant{}))
	answers := make([]string, len(all))
	var group sync.WaitGroup
	for worker := range 16 {
		group.Go(func() {
			for i := worker; i < len(all); i += 16 {
				got := httpgatetest.Send(t, http.MethodPost, url, all[i].request(i), "Mcp-Session-Id", session(all[i]))
				answers[i] = string(got.Body)
				if got.Err != nil || answers[i] == "" && got.Status != 401 && got.Status != 403 {
					t.Errorf("%s: %d %q %v", all[i].way, got.Status, got.Body, got.Err)
				}
			}
		})
	}
	group.Wait()
	return answers
}

// front serves an upstream through a gateway, and returns its address.
func (s *scene) front(t *testing.T, upstream http.Handler, mode gateway.Mode) string {
	t.Helper()
	back := httptest.NewServer(upstream)
	t.Cleanup(back.Close)
	target, err := url.Parse(back.URL + "/mcp")
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewServer(httpgate.New(gateway.New(s.options(mode)), target, httpgate.Options{}))
	t.Cleanup(front.Close)
	return front.URL
}

// inspect searches all outputs for every planted secret.
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
	leaksIn(t, all, map[string]string{
		"the metrics": text + string(s.meter.AppendStats(nil)), "the log": s.log.String(), "the error output": s.stderr.String(), "the ledger": filesOf(t, s.dir),
	})
	t.Logf("%d secrets of %d kinds; %d bytes in the ledger, %d in the log, %d of stderr", len(all), len(kinds), len(filesOf(t, s.dir)),
		len(s.log.String()), len(s.stderr.String()))
	if !testing.Short() && len(kinds) < 40 {
		t.Error("too few kinds of secrets to mean anything")
	}
}

// leaksIn searches each of the texts, which are keyed by output, for parts of many secrets.
func leaksIn(t *testing.T, all []plant, texts map[string]string) {
	t.Helper()
	left := planted.NewSweep()
	for _, p := range all {
		left.Add(planted.Secret{Way: p.way, Kind: p.kind, Text: p.secret})
	}
	for where, text := range texts {
		for _, leak := range left.Over(where, text) {
			t.Error(leak)
		}
	}
}

// filesOf returns the contents of all files below a directory.
func filesOf(t *testing.T, dir string) string {
	t.Helper()
	all, err := planted.Files(dir)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// inspectDeath is like inspect, for the few secrets of a server that ends.
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
	leaksIn(t, all, map[string]string{"the log": s.log.String(), "the error output": s.stderr.String(), "the ledger": filesOf(t, s.dir)})
}
