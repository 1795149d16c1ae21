package gateway_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/candor-mcp/candor/gateway"
	"github.com/candor-mcp/candor/internal/http1"
)

// ways are the ways to one upstream that are compared: straight, through the standard library's proxy, which looks at
// nothing, and through a door.
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
	plain := httputil.NewSingleHostReverseProxy(target)
	plain.Transport = &http.Transport{MaxIdleConnsPerHost: 256, DisableCompression: true}
	plain.FlushInterval = -1
	proxy := httptest.NewServer(plain)
	b.Cleanup(proxy.Close)
	door := httptest.NewServer(gateway.New(gateway.Options{Name: "up"}).Door(target, gateway.HTTPOptions{}))
	b.Cleanup(door.Close)
	return map[string]string{"direct": back.URL, "reverseproxy": proxy.URL, "door": door.URL}
}

var benchHeader = http.Header{
	"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Mcp-Session-Id": {"0123456789abcdef"},
	"Mcp-Protocol-Version": {"2025-11-25"}, "User-Agent": {"bench"},
}

// calls makes n calls with some callers at once and returns how long that took.
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
					Body: io.NopCloser(strings.NewReader(toolCall)), ContentLength: int64(len(toolCall))}).WithContext(context.Background())
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

// BenchmarkP5 is TARGETS P5: calls a second through the door against httputil.ReverseProxy and the straight way, a round of
// each in turn. Run it with -benchtime 9x.
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
			direct, proxy, door := median(rates["direct"]), median(rates["reverseproxy"]), median(rates["door"])
			b.ReportMetric(door/proxy, "x-reverseproxy")
			b.ReportMetric(door/direct, "x-direct")
			b.ReportMetric(proxy/direct, "reverseproxy-x-direct")
			b.ReportMetric(door, "calls/s")
		})
	}
}

// BenchmarkP6 is TARGETS P6: what the door adds to the median time of a call, with one caller.
func BenchmarkP6(b *testing.B) {
	to := ways(b, "application/json", good)
	times := map[string][]float64{}
	for b.Loop() {
		for way, address := range to {
			calls(b, address, 1, 1000, func(d time.Duration) { times[way] = append(times[way], float64(d.Microseconds())) })
		}
	}
	direct := median(times["direct"])
	b.ReportMetric(median(times["door"])-direct, "added-us-p50")
	b.ReportMetric(median(times["reverseproxy"])-direct, "reverseproxy-added-us-p50")
}

func median(of []float64) float64 {
	if len(of) == 0 {
		return 0
	}
	slices.Sort(of)
	return of[len(of)/2]
}
