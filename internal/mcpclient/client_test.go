package mcpclient_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor/internal/framing"
	"github.com/candor-mcp/candor/internal/mcpclient"
	"github.com/candor-mcp/candor/wire"
)

// TestMain lets the test binary be a server that writes other things before each answer.
func TestMain(m *testing.M) {
	if os.Getenv("MCPCLIENT_SERVER") == "" {
		os.Exit(m.Run())
	}
	fmt.Fprintln(os.Stderr, "the server has started")
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		if answer := answerTo(lines.Bytes()); answer != "" {
			fmt.Printf("noise\n%s\n%s\n", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, answer)
		}
	}
}

// answerTo answers a request with its method.
func answerTo(message []byte) string {
	m := wire.Parse(message, wire.Limits{})
	if m.Kind() != wire.KindRequest {
		return ""
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"method":%q,"protocolVersion":"2025-06-18"}}`, m.ID(), m.Method())
}

// asks initializes a session and makes a request.
func asks(t *testing.T, client *mcpclient.Client) {
	t.Helper()
	if _, err := client.Initialize(t.Context()); err != nil {
		t.Fatal(err)
	}
	answer, err := client.Ask(t.Context(), "tools/list", `{}`)
	if err != nil || !answer.Result().Path("method").Is("tools/list") {
		t.Fatalf("%s %v", answer.Bytes(), err)
	}
}

func TestRequestsGetTheirAnswersOverStdio(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "MCPCLIENT_SERVER=1")
	conn, err := mcpclient.Start(cmd, mcpclient.StdioOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var noise []string
	client := mcpclient.NewClient(conn, "test", func(m mcpclient.Message, _ *wire.Message) { noise = append(noise, string(m.Data)) })
	asks(t, client)
	client.Close(true)
	<-client.Ended()
	if len(noise) != 4 || !conn.Ended(0) || !strings.Contains(conn.Stderr.String(), "has started") {
		t.Errorf("%q, standard error %q", noise, &conn.Stderr)
	}
	if _, err := client.Ask(t.Context(), "ping", ""); err == nil {
		t.Error("a request on a closed connection was answered")
	}
}

func TestRequestFailsWhenTheServerEnds(t *testing.T) {
	t.Parallel()
	out, server := io.Pipe()
	client := mcpclient.NewClient(mcpclient.NewPipe(out, discard{}, 0), "test", nil)
	waiting := client.Go(t.Context(), "ping", "")
	_ = server.Close()
	if a := <-waiting; !errors.Is(a.Err, mcpclient.ErrEnded) {
		t.Error(a.Err)
	}
}

type discard struct{ io.Writer }

func (discard) Write(p []byte) (int, error) { return len(p), nil }
func (discard) Close() error                { return nil }

func TestLongLinesAreCut(t *testing.T) {
	t.Parallel()
	line := `{"jsonrpc":"2.0","id":7,"result":"` + strings.Repeat("x", 1<<20) + `"}`
	pipe := mcpclient.NewPipe(strings.NewReader(line+"\n"), discard{}, 4096)
	m := <-pipe.Messages()
	if !m.Cut || len(m.Data)+len(m.Tail) > 8192 || m.Size != int64(len(line)) || framing.PeekID(m.Data, m.Tail) == nil {
		t.Errorf("cut %t, %d+%d of %d bytes", m.Cut, len(m.Data), len(m.Tail), m.Size)
	}
}

// web serves both HTTP transports. Sessions of streamable HTTP are counted; the first one is forgotten after initialize.
func web(t *testing.T, stream bool) (address string, headers *[]http.Header) {
	var sessions int
	var seen []http.Header
	messages := make(chan string, 8)
	mux := http.NewServeMux()
	mux.HandleFunc("POST /mcp", func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Header)
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), `"initialize"`) {
			sessions++
			w.Header().Set("Mcp-Session-Id", fmt.Sprint(sessions))
		} else if r.Header.Get("Mcp-Session-Id") != "2" {
			http.Error(w, "no such session", http.StatusNotFound)
			return
		}
		if stream {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = fmt.Fprintf(w, ": hello\n\ndata: %s\n\n", answerTo(body))
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, answerTo(body))
	})
	mux.HandleFunc("GET /sse", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "event: endpoint\ndata: /post\n\n")
		for {
			_ = http.NewResponseController(w).Flush()
			select {
			case <-r.Context().Done():
				return
			case text := <-messages:
				_, _ = fmt.Fprintf(w, "data: %s\n\n", text)
			}
		}
	})
	mux.HandleFunc("POST /post", func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		messages <- answerTo(body)
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL, &seen
}

func TestRequestsGetTheirAnswersOverHTTP(t *testing.T) {
	t.Parallel()
	for _, stream := range []bool{true, false} {
		address, seen := web(t, stream)
		conn := mcpclient.OpenHTTP(address+"/mcp", mcpclient.HTTPOptions{Renew: true, Header: http.Header{"Authorization": {"Bearer x"}}})
		client := mcpclient.NewClient(conn, "test", nil)
		asks(t, client)
		client.Close(false)
		last := (*seen)[len(*seen)-1]
		if last.Get("Mcp-Session-Id") != "2" || last.Get("Mcp-Protocol-Version") != "2025-06-18" || last.Get("Authorization") != "Bearer x" {
			t.Errorf("headers %v", last)
		}
	}
}

func TestStatelessRequestsNameMethodAndTarget(t *testing.T) {
	t.Parallel()
	address, seen := web(t, false)
	conn := mcpclient.OpenHTTP(address+"/mcp", mcpclient.HTTPOptions{})
	conn.Agree(mcpclient.VersionStateless)
	body := mcpclient.Request("1", "tools/call", string(mcpclient.AddMeta([]byte(mcpclient.CallParams("café", `{}`)), "test")))
	m, err := conn.Ask(t.Context(), http.MethodPost, body, http.Header{"Accept": {""}})
	if err != nil || m.Status != http.StatusNotFound {
		t.Fatal(m, err)
	}
	h := (*seen)[0]
	if h.Get("Mcp-Method") != "tools/call" || h.Get("Mcp-Name") != "=?base64?Y2Fmw6k=?=" || h.Get("Accept") != "" {
		t.Error(h)
	}
}

func TestRequestsGetTheirAnswersOverSSE(t *testing.T) {
	t.Parallel()
	address, _ := web(t, false)
	at, err := url.Parse(address + "/sse")
	if err != nil {
		t.Fatal(err)
	}
	conn, err := mcpclient.OpenSSE(t.Context(), at, mcpclient.HTTPOptions{})
	if err != nil {
		t.Fatal(err)
	}
	client := mcpclient.NewClient(conn, "test", nil)
	defer client.Close(false)
	asks(t, client)
}

func TestProcessThatStaysIsKilled(t *testing.T) {
	t.Parallel()
	conn, err := mcpclient.Start(exec.Command("sleep", "100"), mcpclient.StdioOptions{})
	if err != nil {
		t.Skip(err)
	}
	conn.Close(true)
	if !conn.Ended(2 * time.Minute) {
		t.Error("the process still runs")
	}
}
