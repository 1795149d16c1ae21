package bridge_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/gateway/bridge"
	"github.com/candor-mcp/candor/cmd/internal/gateway/stdio"
	"github.com/candor-mcp/candor/cmd/internal/testing/gatewaytest"
	"github.com/candor-mcp/candor/cmd/internal/testing/httpgatetest"
)

// sdkEnv makes the test binary a stdio server of the official SDK. Its value is the oldest version that it does not serve, or
// "all".
const sdkEnv = "CANDOR_TEST_SDK_SERVER"

// init runs before the rest of the test binary.
func init() {
	versions := os.Getenv(sdkEnv)
	if versions == "" {
		return
	}
	hangs := make(chan struct{}, 8)
	go func() {
		for range hangs {
			fmt.Fprintln(os.Stderr, "hang")
		}
	}()
	var transport mcp.Transport = &mcp.StdioTransport{}
	if versions != "all" {
		transport = &mcp.IOTransport{Reader: io.NopCloser(&refusing{r: os.Stdin}), Writer: os.Stdout}
	}
	_ = httpgatetest.SDKServer(hangs).Run(context.Background(), transport)
	os.Exit(0)
}

// refusing reads a client's messages and renames server/discover to a method that no server has.
type refusing struct{ r io.Reader }

func (d *refusing) Read(p []byte) (int, error) {
	n, err := d.r.Read(p)
	copy(p, bytes.ReplaceAll(p[:n], []byte("server/discover"), []byte("server/disfavor")))
	return n, err
}

// hearing receives a value each time that a server writes "hang" to its standard error.
type hearing chan struct{}

func (h hearing) Write(p []byte) (int, error) {
	for range bytes.Count(p, []byte("hang")) {
		h <- struct{}{}
	}
	return len(p), nil
}

func sdkBridge(t *testing.T, versions string, o bridge.Options) (url string, hangs hearing, b *gatewaytest.Books) {
	t.Helper()
	hangs, b = make(hearing, 8), &gatewaytest.Books{}
	up := gateway.New(gateway.Options{Name: "up", Ledger: b, Meter: b})
	bridge := bridge.New(up, stdio.Child{
		Command: os.Args[0], Env: append(os.Environ(), sdkEnv+"="+versions, "GORACE=atexit_sleep_ms=0"), Stderr: hangs,
		Guard: []string{os.Args[0], "guard"}, Grace: time.Second,
	}, o)
	front := httptest.NewServer(bridge)
	t.Cleanup(func() {
		front.CloseClientConnections()
		if err := bridge.Close(context.Background()); err != nil {
			t.Error(err)
		}
		front.Close()
	})
	return front.URL + "/mcp", hangs, b
}

func TestTheOfficialClientSeesAServerOnStdioAsOneOverHTTP(t *testing.T) {
	session := "tools <nil> true\nsample m1\nelicit accept\nprogress done\nprogress 1\nprogress 2\nprogress 3\nprogress 4\n" +
		"fail true\nresource true\nhang true\nthe server was told\nand still <nil>"
	stateless := strings.NewReplacer("sample m1", "sample fails", "elicit accept", "elicit fails").Replace(session)
	for _, row := range []struct{ name, versions, asks, want string }{
		{"old client", "all", "2025-11-25", session},
		{"older client", "all", "2025-03-26", session},
		{"new client", "all", "2026-07-28", stateless},
		{"new client of an old server", "old", "2026-07-28", session},
		{"client of a shared server", "all", "2025-11-25", stateless},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			url, hangs, _ := sdkBridge(t, row.versions, bridge.Options{Shared: strings.Contains(row.name, "shared")})
			if got := strings.Join(httpgatetest.Report(t, url, row.asks, hangs), "\n"); got != row.want {
				t.Errorf("got:\n%s\n\nwant:\n%s", got, row.want)
			}
		})
	}
}

func TestErrorListsTheSupportedVersions(t *testing.T) {
	url, _, b := sdkBridge(t, "old", bridge.Options{})
	for range 2 {
		got := httpgatetest.Send(t, http.MethodPost, url, `{"jsonrpc":"2.0","id":"d","method":"server/discover","params":{"_meta":{`+
			`"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`, "MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "server/discover")
		answer := got.Terminal(t, `"d"`)
		if versions := answer.Error().Path("data", "supported"); got.Status != http.StatusBadRequest || versions.Len() != 4 ||
			string(answer.Error().Path("code").Raw()) != "-32022" {
			t.Errorf("%d %s", got.Status, got.Body)
		}
	}
	if codes := b.Codes(); len(codes) != 2 || codes[0] != "candor/PROTOCOL_VERSION_UNSUPPORTED" {
		t.Error(codes)
	}
}
