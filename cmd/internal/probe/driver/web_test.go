package driver_test

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/probe/driver"
	"github.com/candor-mcp/candor/internal/probe"
	"github.com/candor-mcp/candor/wire"
)

// site is a server over HTTP that records its requests.
type site struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string // method and relevant headers
}

func open(t *testing.T, handle func(w http.ResponseWriter, r *http.Request, message []byte)) *site {
	s := &site{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		m := wire.Parse(body, wire.Limits{})
		h := r.Header
		s.mu.Lock()
		s.asked = append(s.asked, fmt.Sprintf("%s %s version=%s method=%s name=%s session=%s", r.Method, m.Method(), h.Get("Mcp-Protocol-Version"), h.Get("Mcp-Method"), h.Get("Mcp-Name"), h.Get("Mcp-Session-Id")))
		s.mu.Unlock()
		handle(w, r, body)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *site) wasAsked(line string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, asked := range s.asked {
		if asked == line {
			return true
		}
	}
	return false
}

// modern serves 2026-07-28.
func modern(w http.ResponseWriter, r *http.Request, message []byte) {
	m := wire.Parse(message, wire.Limits{})
	w.Header().Set("Content-Type", "application/json")
	switch {
	case m.Kind() == wire.KindMalformed:
		w.WriteHeader(http.StatusBadRequest)
	case r.Header.Get("Mcp-Protocol-Version") != "2026-07-28" || r.Header.Get("Mcp-Method") != string(m.Method()) || !m.Params().Path("_meta", "io.modelcontextprotocol/clientCapabilities").Present():
		http.Error(w, `{"jsonrpc":"2.0","id":`+string(m.ID())+`,"error":{"code":-32020,"message":"headers"}}`, http.StatusBadRequest)
		return
	}
	fmt.Fprint(w, reply(message))
}

func TestStatelessServerGetsStatelessRequests(t *testing.T) {
	t.Parallel()
	s := open(t, modern)
	noParams := probe.Case{Group: probe.GroupProtocol, Name: probe.CaseToolsCallNoParams, Method: "tools/call", Expect: probe.ExpectRefusal}
	run := driven(t, driver.Target{URL: s.URL}, patient(missing, malformed, noParams))
	expect(t, run, "missing_required answered", "malformed_json answered", "tools_call_no_params answered")
	if run.Server.Transport != "http" || run.Server.Protocol != "2026-07-28" || run.Server.Name != "new" || len(run.Tools) != 2 {
		t.Errorf("the server is %+v with %d tools", run.Server, len(run.Tools))
	}
	if !s.wasAsked("POST tools/call version=2026-07-28 method=tools/call name=read session=") {
		t.Errorf("the call was made otherwise: %q", s.asked)
	}
	if got := run.Observations[1]; got.Status != 400 || !strings.Contains(got.Response, "-32700") || got.Request != string(malformed.Raw) {
		t.Errorf("a malformed message is kept as %+v", got)
	}
	if got := run.Observations[2]; strings.Contains(got.Request, "params") || got.Status != 400 {
		t.Errorf("a call without params has some: %+v", got)
	}
}

// TestStreamIsReadToItsEnd checks that messages after the answer in the stream belong to the case.
func TestStreamIsReadToItsEnd(t *testing.T) {
	t.Parallel()
	s := open(t, func(w http.ResponseWriter, r *http.Request, message []byte) {
		m := wire.Parse(message, wire.Limits{})
		if !m.MethodIs("tools/call") {
			modern(w, r, message)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for _, data := range []string{`{"jsonrpc":"2.0","method":"notifications/message"}`, reply(message), reply(message)} {
			fmt.Fprintf(w, "data: %s\n\n", data)
		}
	})
	if o := driven(t, driver.Target{URL: s.URL}, patient(missing)).Observations[0]; o.Extra != 1 || o.Notices != 1 || o.Outcome != probe.OutcomeAnswered {
		t.Errorf("seen %+v", o)
	}
}

// stateful serves 2025-11-25 with sessions, and drops a session when forget returns true.
func stateful(events bool, forget func(calls int) bool) func(http.ResponseWriter, *http.Request, []byte) {
	sessions, calls := 0, 0
	var mu sync.Mutex
	return func(w http.ResponseWriter, r *http.Request, message []byte) {
		mu.Lock()
		defer mu.Unlock()
		m := wire.Parse(message, wire.Limits{})
		switch {
		case r.Method != http.MethodPost:
			return
		case m.MethodIs("initialize"):
			sessions++
			w.Header().Set("Mcp-Session-Id", fmt.Sprint("s", sessions))
		case r.Header.Get("Mcp-Session-Id") == "":
			http.Error(w, "no session", http.StatusBadRequest)
			return
		case r.Header.Get("Mcp-Session-Id") != fmt.Sprint("s", sessions):
			http.Error(w, "unknown session", http.StatusNotFound)
			return
		}
		if m.MethodIs("tools/call") {
			if calls++; forget(calls) {
				sessions += 10
				http.Error(w, "unknown session", http.StatusNotFound)
				return
			}
		}
		answer := reply(message)
		switch {
		case answer == "":
			w.WriteHeader(http.StatusAccepted)
		case events:
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, ": hello\n\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}\n\nevent: message\ndata: %s\n\n", answer)
		default:
			w.Header().Set("Retry-After", "30")
			fmt.Fprint(w, answer)
		}
	}
}

func TestSessionIsRenewedWhenForgotten(t *testing.T) {
	t.Parallel()
	for _, events := range []bool{false, true} {
		s := open(t, stateful(events, func(calls int) bool { return calls == 2 }))
		run := driven(t, driver.Target{URL: s.URL}, patient(missing, extra, malformed))
		expect(t, run, "missing_required answered", "extra_property answered", "malformed_json answered")
		if run.Server.Protocol != "2025-11-25" || run.Server.Transport != "http" || len(run.Tools) != 2 || run.Restarts != 0 {
			t.Errorf("the run is about %+v with %d tools, %d restarts", run.Server, len(run.Tools), run.Restarts)
		}
		if o := run.Observations[1]; o.Status != 200 || !strings.Contains(o.Response, "no such file") || !events && o.RetryAfter != "30" {
			t.Errorf("kept as %+v", o)
		}
		for _, want := range []string{
			"POST tools/call version=2025-11-25 method= name= session=s1", "POST tools/call version=2025-11-25 method= name= session=s12",
			"DELETE  version=2025-11-25 method= name= session=s12",
		} {
			if !s.wasAsked(want) {
				t.Errorf("never asked %q, but %q", want, s.asked)
			}
		}
	}
}

func TestHTTPOutcomes(t *testing.T) {
	t.Parallel()
	old := stateful(false, func(int) bool { return false })
	s := open(t, func(w http.ResponseWriter, r *http.Request, message []byte) {
		m := wire.Parse(message, wire.Limits{})
		name, _ := m.Params().Path("name").Str()
		switch name {
		case "accepts":
			w.WriteHeader(http.StatusAccepted)
		case "hangs":
			<-r.Context().Done()
		case "breaks":
			conn, _, err := http.NewResponseController(w).Hijack()
			if err == nil {
				_ = conn.Close()
			}
		case "chatters":
			w.Header().Set("Content-Type", "text/event-stream")
			for r.Context().Err() == nil {
				fmt.Fprint(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}\n\n")
			}
		case "empty":
			w.WriteHeader(http.StatusBadGateway)
		case "elsewhere":
			http.Redirect(w, r, "http://localhost:1/", http.StatusTemporaryRedirect)
		default:
			old(w, r, message)
		}
	})
	var cases []probe.Case
	for _, name := range []string{"accepts", "hangs", "breaks", "empty", "elsewhere", "chatters", "read"} {
		cases = append(cases, call(name, name, probe.ExpectRefusal))
	}
	run := paced(t, driver.Target{URL: s.URL, Transport: driver.TransportHTTP}, quick(cases...), "accepts no_answer", "hangs hang", "breaks no_answer", "empty answered", "elsewhere answered", "chatters hang", "read answered")
	for i, want := range []int{202, 0, 0, 502, 307, 0, 200} {
		if run.Observations[i].Status != want {
			t.Errorf("%s has status %d", run.Observations[i].Case.Name, run.Observations[i].Status)
		}
	}
	if got := run.Observations[2].Broken; got != "connection closed" {
		t.Errorf("the broken connection is kept as %q", got)
	}
}

func TestUnreachableServerEndsTheRun(t *testing.T) {
	t.Parallel()
	var s *site
	old := stateful(false, func(int) bool { return false })
	s = open(t, func(w http.ResponseWriter, r *http.Request, message []byte) {
		if m := wire.Parse(message, wire.Limits{}); m.MethodIs("tools/call") {
			_ = s.Listener.Close()
			s.CloseClientConnections()
			return
		}
		old(w, r, message)
	})
	run := driven(t, driver.Target{URL: s.URL}, patient(missing, extra))
	expect(t, run, "missing_required crash")
	if !strings.Contains(run.Incomplete, "restarting the server") {
		t.Errorf("incomplete: %q", run.Incomplete)
	}
}

func TestSecretsOfTheCallerStayOutOfTheRun(t *testing.T) {
	t.Parallel()
	old := stateful(false, func(int) bool { return false })
	s := open(t, func(w http.ResponseWriter, r *http.Request, message []byte) {
		if m := wire.Parse(message, wire.Limits{}); m.MethodIs("tools/call") {
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":1,"message":"bad header %s"}}`, m.ID(), r.Header.Get("Authorization"))
			return
		}
		old(w, r, message)
	})
	run := driven(t, driver.Target{URL: s.URL, Headers: map[string]string{"Authorization": "Bearer swordfish42"}}, patient(missing))
	if got := run.Observations[0].Response; strings.Contains(got, "swordfish") || !strings.Contains(got, "Bearer "+probe.GivenSecret) {
		t.Errorf("kept as %s", got)
	}
}

func TestSecretsOfTheEnvironmentStayOutOfTheRun(t *testing.T) {
	t.Parallel()
	to := server("environment")
	to.Env = append(to.Env, `API_TOKEN=open"sesame7`, "REGION=westernmost", `DB_PASSWORD=sea"shell`, "A_TOKEN=hunter2024", "B_TOKEN=hunter2024prodXY")
	run := driven(t, to, patient(missing))
	got := run.Observations[0].Response
	if strings.Contains(got, "sesame") || !strings.Contains(got, "API_TOKEN="+probe.GivenSecret) || strings.Contains(got, "shell") || strings.Contains(got, "prodXY") || !strings.Contains(got, "westernmost") {
		t.Errorf("kept as %s", got)
	}
}

// TestOrdinaryWordsAreHiddenOnlyAfterTheirName has passwords of a test database that are ordinary words and so occur in
// many answers.
func TestOrdinaryWordsAreHiddenOnlyAfterTheirName(t *testing.T) {
	t.Parallel()
	to := server("environment")
	to.Env = append(to.Env, "POSTGRES_PASSWORD=postgres", "API_KEY=invalid", "OTHER_TOKEN=123456", "NOTE=invalid arguments for postgres at 1234567")
	got := driven(t, to, patient(missing)).Observations[0].Response
	for _, want := range []string{`"POSTGRES_PASSWORD=[hidden]"`, `"API_KEY=[hidden]"`, `"OTHER_TOKEN=[hidden]"`, "invalid arguments for postgres at 1234567"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not in %s", want, got)
		}
	}
	if strings.Contains(got, probe.GivenSecret) {
		t.Errorf("a word that anybody may say is called a secret: %s", got)
	}
}

// TestTruncationLeavesNoPartOfASecret has a server that prints its token so often that every truncation would cut one.
func TestTruncationLeavesNoPartOfASecret(t *testing.T) {
	t.Parallel()
	for _, who := range []string{"repeats", "repeats-endlessly"} {
		to := server(who)
		to.Env = append(to.Env, "API_TOKEN=k3yOfTheCastleByTheSea")
		o := driven(t, to, patient(missing)).Observations[0]
		for what, text := range map[string]string{"answer": o.Response, "noise": strings.Join(o.Noise, "\n"), "standard error": o.Stderr} {
			if what != "standard error" && !strings.Contains(text, probe.GivenSecret) || // which may not have arrived yet
				strings.Contains(text, "k3y") || strings.Contains(text, "Sea") {
				t.Errorf("%s: the %s is kept as %.40s … %s", who, what, text, text[max(0, len(text)-100):])
			}
		}
	}
}

// legacy serves 2024-11-05.
func legacy(t *testing.T, endpoint string) *site {
	said := make(chan string, 100)
	return open(t, func(w http.ResponseWriter, r *http.Request, message []byte) {
		m := wire.Parse(message, wire.Limits{})
		switch {
		case r.URL.Path == "/sse" && r.Method == http.MethodGet:
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "event: endpoint\ndata: %s\n\n", endpoint)
			_ = http.NewResponseController(w).Flush()
			for {
				select {
				case answer := <-said:
					fmt.Fprintf(w, "event: message\ndata: %s\n\n", answer)
					_ = http.NewResponseController(w).Flush()
				case <-r.Context().Done():
					return
				}
			}
		case r.URL.Path != "/message":
			http.Error(w, "not here", http.StatusMethodNotAllowed)
		case m.Kind() == wire.KindMalformed:
			http.Error(w, "no message", http.StatusBadRequest)
		default:
			if answer := reply(message); answer != "" {
				said <- answer
			}
			w.WriteHeader(http.StatusAccepted)
		}
	})
}

func TestLegacySSETransport(t *testing.T) {
	t.Parallel()
	for _, transport := range []driver.Transport{driver.TransportAuto, driver.TransportSSE} {
		s := legacy(t, "/message?session=1")
		run := driven(t, driver.Target{URL: s.URL + "/sse", Transport: transport}, patient(missing, malformed))
		expect(t, run, "missing_required answered", "malformed_json answered")
		if run.Server.Transport != "sse" || len(run.Tools) != 2 || run.Observations[1].Status != 400 {
			t.Errorf("the server is %+v, and the malformed message %+v", run.Server, run.Observations[1])
		}
	}
	for transport, want := range map[driver.Transport]string{driver.TransportSSE: "another host", driver.TransportHTTP: "HTTP 405"} {
		s := legacy(t, "http://localhost:1/message")
		if _, err := driver.Drive(t.Context(), driver.Target{URL: s.URL + "/sse", Transport: transport}, quick()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", transport, err, want)
		}
	}
}

// TestUnreachableServerErrorsHaveANextStep has errors that a program reports as "connection failed" and that need
// different remedies.
func TestUnreachableServerErrorsHaveANextStep(t *testing.T) {
	t.Parallel()
	answer := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "http://elsewhere.invalid/mcp")
			w.WriteHeader(status)
		}
	}
	plain := httptest.NewServer(answer(http.StatusUnauthorized))
	defer plain.Close()
	moved := httptest.NewServer(answer(http.StatusTemporaryRedirect))
	defer moved.Close()
	secret := httptest.NewUnstartedServer(answer(http.StatusOK))
	secret.Config.ErrorLog = log.New(io.Discard, "", 0)
	secret.StartTLS()
	defer secret.Close()
	for address, want := range map[string]string{
		plain.URL: "--header 'Authorization: Bearer",
		moved.URL: "use the URL that it redirects to",
		strings.Replace(plain.URL, "http:", "https:", 1): "does not speak TLS",
		secret.URL:               "certificate not trusted",
		"http://nobody..zz/mcp/": "no such host", // an invalid name, so that no resolver is needed
	} {
		if run, err := driver.Drive(t.Context(), driver.Target{URL: address, Transport: driver.TransportHTTP}, quick()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %+v, want %q", address, err, run, want)
		}
	}
}
