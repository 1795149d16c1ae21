package httpgate_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	httpgate "github.com/candor-mcp/candor/cmd/internal/gateway/http"
	"github.com/candor-mcp/candor/cmd/internal/http1"
	"github.com/candor-mcp/candor/cmd/internal/testing/httpgatetest"
)

// ways returns the compared routes to one upstream: direct, through httputil.ReverseProxy, which inspects nothing, through the
// gateway, and through the gateway with an http.Transport instead of http1.Client.
func ways(b *testing.B, kind, answer string) map[string]string {
	b.Helper()
	back := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", kind)
		_, _ = io.WriteString(w, answer)
	}))
	b.Cleanup(back.Close)
	target, err := url.Parse(back.URL)
	if err != nil {
		b.Fatal(err)
	}
	all := map[string]string{
		"direct": back.URL, "reverseproxy": elsewhere(b, "reverseproxy", back.URL), "gateway": elsewhere(b, "gateway", back.URL),
		"transport": elsewhere(b, "transport", back.URL),
	}
	if address := nginx(b, target.Host); address != "" {
		all["nginx"] = address
	}
	return all
}

const (
	benchServe  = "CANDOR_BENCH_SERVE"
	benchTarget = "CANDOR_BENCH_TARGET"
)

// init makes this program a proxy if it was started as one. Each compared proxy runs in a separate process, like nginx.
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
	options := httpgate.Options{}
	if what == "transport" {
		options.Transport = transport
	}
	var handler http.Handler = httpgate.New(gateway.New(gateway.Options{Name: "up"}), target, options)
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

// proxyProcess is a proxy in a separate process.
type proxyProcess struct {
	address string
	pid     int
}

func elsewhere(b *testing.B, what, target string) string {
	b.Helper()
	return startProxy(b, what, target).address
}

// startProxy starts a proxy in a separate process.
func startProxy(b *testing.B, what, target string) proxyProcess {
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
	return proxyProcess{strings.TrimSpace(line), cmd.Process.Pid}
}

const nginxConf = `daemon off; master_process off; pid %[1]s/pid; error_log %[1]s/log; worker_processes 1; events { worker_connections 1024; }
http { access_log off; client_body_temp_path %[1]s/b; proxy_temp_path %[1]s/p; fastcgi_temp_path %[1]s/f; uwsgi_temp_path %[1]s/u; scgi_temp_path %[1]s/s;
keepalive_requests 1000000; upstream up { server %[2]s; keepalive 64; keepalive_requests 1000000; }
server { listen %[3]s; location / { proxy_pass http://up; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off; } } }
`

// nginx returns the address of an nginx in front of the upstream, or "" if it is not installed.
func nginx(b *testing.B, upstream string) string {
	b.Helper()
	program, err := exec.LookPath("nginx")
	if err != nil {
		return ""
	}
	l, err := new(net.ListenConfig).Listen(b.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	address := l.Addr().String()
	_ = l.Close()
	dir := b.TempDir()
	conf := filepath.Join(dir, "conf")
	if err := os.WriteFile(conf, fmt.Appendf(nil, nginxConf, dir, upstream, address), 0o600); err != nil {
		b.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, program, "-c", conf, "-p", dir)
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { stop(); _ = cmd.Wait() })
	for range 1000 {
		conn, err := new(net.Dialer).DialContext(b.Context(), "tcp", address)
		if err == nil {
			_ = conn.Close()
			return "http://" + address
		}
		time.Sleep(5 * time.Millisecond)
	}
	b.Fatal("nginx does not listen")
	return ""
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
	client := &http1.Client{}
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
			b.ReportMetric(own/median(rates["transport"]), "x-transport")
			b.ReportMetric(own/direct, "x-direct")
			b.ReportMetric(proxy/direct, "reverseproxy-x-direct")
			b.ReportMetric(own, "calls/s")
			if other := median(rates["nginx"]); other > 0 {
				b.ReportMetric(own/other, "x-nginx")
			}
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
	b.ReportMetric(median(times["transport"])-direct, "transport-added-us-p50")
	b.ReportMetric(median(times["reverseproxy"])-direct, "reverseproxy-added-us-p50")
	if other := median(times["nginx"]); other > 0 {
		b.ReportMetric(other-direct, "nginx-added-us-p50")
	}
}

func median(of []float64) float64 {
	if len(of) == 0 {
		return 0
	}
	slices.Sort(of)
	return of[len(of)/2]
}

// BenchmarkClientCPU compares the CPU time of a call through the gateway with http1.Client and with an http.Transport: that of
// the proxy alone, and that of caller, proxy and server together, which limits the calls per second. CPU time hardly depends on
// other load on the machine. Run it with -benchtime 9x.
func BenchmarkClientCPU(b *testing.B) {
	for name, row := range map[string][2]string{"json": {"application/json", good}, "events": {"text/event-stream", "event: message\ndata: " + good + "\n\n"}} {
		b.Run(name, func(b *testing.B) {
			back := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				w.Header().Set("Content-Type", row[0])
				_, _ = io.WriteString(w, row[1])
			}))
			b.Cleanup(back.Close)
			const n = 4000
			self, proxy, all := proxyProcess{pid: os.Getpid()}, map[string][]float64{}, map[string][]float64{}
			ways := map[string]proxyProcess{"gateway": startProxy(b, "gateway", back.URL), "transport": startProxy(b, "transport", back.URL)}
			for b.Loop() {
				for name, p := range ways {
					before, own := p.cpu(b), self.cpu(b)
					calls(b, p.address, 16, n, nil)
					spent := float64((p.cpu(b) - before).Microseconds()) / n
					proxy[name] = append(proxy[name], spent)
					all[name] = append(all[name], spent+float64((self.cpu(b)-own).Microseconds())/n)
				}
			}
			b.ReportMetric(median(proxy["gateway"]), "gateway-cpu-us/call")
			b.ReportMetric(median(proxy["transport"])/median(proxy["gateway"]), "transport-x-gateway")
			b.ReportMetric(median(all["transport"])/median(all["gateway"]), "transport-x-gateway-in-all")
		})
	}
}

// cpu returns the CPU time that the process has used.
func (p proxyProcess) cpu(b *testing.B) time.Duration {
	b.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.pid))
	if err != nil {
		b.Skip("processor time is read from /proc")
	}
	_, after, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(after)
	var ticks int
	for _, field := range fields[11:13] { // user and system time, in hundredths of a second
		n, err := strconv.Atoi(field)
		if err != nil {
			b.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}
