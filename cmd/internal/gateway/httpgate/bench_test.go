package httpgate_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/gateway/httpgate"
	"github.com/candor-mcp/candor/cmd/internal/testing/httpgatetest"
)

// ways returns the compared routes to one upstream: direct, through httputil.ReverseProxy, which inspects nothing, and through the
// gateway.
func ways(b *testing.B, kind, answer string) map[string]string {
	b.Helper()
	back := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", kind)
		_, _ = io.WriteString(w, answer)
	}))
	b.Cleanup(back.Close)
	return map[string]string{
		"direct": back.URL, "reverseproxy": elsewhere(b, "reverseproxy", back.URL), "gateway": elsewhere(b, "gateway", back.URL),
	}
}

const (
	benchServe  = "CANDOR_BENCH_SERVE"
	benchTarget = "CANDOR_BENCH_TARGET"
)

// init makes this program a proxy if it was started as one. Each compared proxy runs in a separate process.
func init() {
	what := os.Getenv(benchServe)
	if what == "" {
		return
	}
	target, err := url.Parse(os.Getenv(benchTarget))
	if err != nil {
		os.Exit(1)
	}
	transport := &http.Transport{MaxIdleConnsPerHost: 256, DisableCompression: true}
	var handler http.Handler = httpgate.New(gateway.New(gateway.Options{Name: "up"}), target, httpgate.Options{})
	if what == "reverseproxy" {
		plain := httputil.NewSingleHostReverseProxy(target)
		plain.Transport = transport
		plain.FlushInterval = -1
		handler = plain
	}
	s := httptest.NewServer(handler)
	fmt.Println(s.URL) // read by the benchmark that started it
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}

// elsewhere starts a proxy in a separate process, and returns its address.
func elsewhere(b *testing.B, what, target string) string {
	b.Helper()
	program, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.CommandContext(context.Background(), program)
	cmd.Env = append(os.Environ(), benchServe+"="+what, benchTarget+"="+target)
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	return strings.TrimSpace(line)
}

var benchHeader = http.Header{
	"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Mcp-Session-Id": {"0123456789abcdef"},
	"Mcp-Protocol-Version": {"2025-11-25"}, "User-Agent": {"bench"},
}

// calls makes n calls with concurrent callers and returns the elapsed time.
func calls(b *testing.B, address string, callers, n int, each func(time.Duration)) time.Duration {
	b.Helper()
	target, err := url.Parse(address)
	if err != nil {
		b.Fatal(err)
	}
	var group sync.WaitGroup
	client := &http.Transport{MaxIdleConnsPerHost: callers}
	defer client.CloseIdleConnections()
	began := time.Now()
	for range callers {
		group.Go(func() {
			for range n / callers {
				start := time.Now()
				r := (&http.Request{Method: http.MethodPost, URL: target, Host: target.Host, Header: benchHeader,
					Body: io.NopCloser(strings.NewReader(httpgatetest.ToolCall)), ContentLength: int64(len(httpgatetest.ToolCall))}).WithContext(context.Background())
				res, err := client.RoundTrip(r)
				if err != nil || res.StatusCode != http.StatusOK {
					b.Errorf("%v %v", res, err)
					return
				}
				_, _ = io.Copy(io.Discard, res.Body)
				_ = res.Body.Close()
				if each != nil {
					each(time.Since(start))
				}
			}
		})
	}
	group.Wait()
	return time.Since(began)
}

// BenchmarkP5 measures target P5: calls per second through the gateway compared with httputil.ReverseProxy and a direct
// connection, in alternating rounds. Run it with -benchtime 9x.
func BenchmarkP5(b *testing.B) {
	result := `{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"` + strings.Repeat("all is well. ", 60) + `"}]}}`
	for name, row := range map[string][2]string{"json": {"application/json", result}, "events": {"text/event-stream", "event: message\ndata: " + result + "\n\n"}} {
		b.Run(name, func(b *testing.B) {
			to := ways(b, row[0], row[1])
			rates := map[string][]float64{}
			for b.Loop() {
				for way, address := range to {
					const n = 4000
					rates[way] = append(rates[way], n/calls(b, address, 16, n, nil).Seconds())
				}
			}
			direct, proxy, own := median(rates["direct"]), median(rates["reverseproxy"]), median(rates["gateway"])
			b.ReportMetric(own/proxy, "x-reverseproxy")
			b.ReportMetric(own/direct, "x-direct")
			b.ReportMetric(proxy/direct, "reverseproxy-x-direct")
			b.ReportMetric(own, "calls/s")
		})
	}
}

// BenchmarkP6 measures target P6: the latency that the gateway adds to the median call, with one caller.
func BenchmarkP6(b *testing.B) {
	to := ways(b, "application/json", good)
	times := map[string][]float64{}
	for b.Loop() {
		for way, address := range to {
			calls(b, address, 1, 1000, func(d time.Duration) { times[way] = append(times[way], float64(d.Microseconds())) })
		}
	}
	direct := median(times["direct"])
	b.ReportMetric(median(times["gateway"])-direct, "added-us-p50")
	b.ReportMetric(median(times["reverseproxy"])-direct, "reverseproxy-added-us-p50")
}

func median(of []float64) float64 {
	if len(of) == 0 {
		return 0
	}
	slices.Sort(of)
	return of[len(of)/2]
}
