package gatewaybench

import (
	"os"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/testing/load"
)

// Each iteration is one round in which all contestants are measured in turns. Run with -benchtime 5x, because targets are checked only then.
const (
	window = time.Second // duration for one contestant in one round
	few    = 500         // calls of one contestant in one round, for benchmarks of latency
	enough = 5           // rounds needed to check targets
)

// field has the contestants of one benchmark. The first is the one under test, the second the baseline for all.
type field []*load.Contestant

func (f *field) enter(name string, calls load.Callers) {
	if calls != nil {
		*f = append(*f, &load.Contestant{Name: name, Callers: calls})
	}
}

func (f field) race(b *testing.B, measure func(load.Callers) (float64, int64, error)) {
	b.Helper()
	r := load.Race{Measure: measure}
	for _, c := range f {
		r.Enter(c)
	}
	must(b, r.Round())
	r.Forget()
	rounds := 0
	for b.Loop() {
		must(b, r.Round())
		rounds++
	}
	b.ReportMetric(0, "ns/op") // the time of a round means nothing
	if rounds < enough {
		b.Logf("%d rounds are too few for the targets", rounds)
	}
}

// stdio returns the ways to reach the server over stdio. npm's proxies use HTTP on the client's side, which is their purpose;
// candor gateway as a bridge is the equivalent.
func stdio(b *testing.B, callers int) field {
	b.Helper()
	var f field
	f.enter("gateway", throughWrap(b, callers))
	f.enter("direct", piped(b, callers, []string{load.Env + "=" + load.Plain}, os.Args[0]))
	f.enter("bridge", throughGateway(b, overStdio(), trail(b), callers))
	f.enter("supergateway", throughSupergateway(b, callers))
	f.enter("mcp-proxy", throughMCPProxy(b, callers))
	return f
}

// overHTTP returns the ways to reach the server over HTTP.
func overHTTP(b *testing.B, callers int) field {
	b.Helper()
	var f field
	server := role(b, "server")
	f.enter("gateway", throughGateway(b, overHTTPAt(server), trail(b), callers))
	f.enter("direct", posted(b, server, callers))
	f.enter("reverse", posted(b, role(b, "reverse", "http://"+server), callers))
	f.enter("nginx", throughNginx(b, server, callers))
	return f
}

func BenchmarkP4Stdio(b *testing.B) {
	const callers = 16
	f := stdio(b, callers)
	f.race(b, load.Rate(callers, load.Echo, window))
	f.rates(b, map[string]float64{"direct": 0.5, "supergateway": 10, "mcp-proxy": 10})
}

func BenchmarkP5HTTP(b *testing.B) {
	const callers = 16
	f := overHTTP(b, callers)
	f.race(b, load.Rate(callers, load.Echo, window))
	f.rates(b, map[string]float64{"reverse": 1.2, "nginx": 0.4})
}

func BenchmarkP6StdioLatency(b *testing.B) {
	f := stdio(b, 1)
	f.race(b, load.Latency(few, load.Echo))
	f.added(b, map[string]float64{"mcp-proxy": 0.1})
}

func BenchmarkP6HTTPLatency(b *testing.B) {
	f := overHTTP(b, 1)
	f.race(b, load.Latency(few, load.Echo))
	f.added(b, map[string]float64{"nginx": 2.5})
}

// BenchmarkP7Record measures recording in the gateway, over HTTP. The temporary folder must be on a disk to get a meaningful result.
func BenchmarkP7Record(b *testing.B) {
	const callers = 128
	for _, target := range []struct {
		tool  string
		least float64
	}{{load.Fail, 0.6}, {load.Echo, 0.95}} {
		b.Run(target.tool, func(b *testing.B) {
			upstream := overHTTPAt(role(b, "server"))
			var f field
			f.enter("recorded", throughGateway(b, upstream, trail(b), callers))
			f.enter("plain", throughGateway(b, upstream, "none", callers))
			f.race(b, load.Rate(callers, target.tool, window))
			f.rates(b, map[string]float64{"plain": target.least})
		})
	}
}

// rates reports calls per second, and the ratio of ours to each of the others, for which least has the minimum.
func (f field) rates(b *testing.B, least map[string]float64) {
	b.Helper()
	for i, c := range f {
		b.ReportMetric(c.Figure(), c.Name+"/s")
		b.ReportMetric(c.CPU(), c.Name+"-cpu-µs")
		if i == 0 {
			continue
		}
		times := f[0].Figure() / c.Figure()
		b.ReportMetric(times, "x-"+c.Name)
		if want, ok := least[c.Name]; ok && b.N >= enough && times < want {
			b.Logf("MISSED: %.2f times %s, the target is %.2f", times, c.Name, want) // failing would hide the figures
		}
	}
}

// added reports by how many microseconds the median call takes longer than a direct one, and the ratio of ours to each of the others,
// for which most has the maximum.
func (f field) added(b *testing.B, most map[string]float64) {
	b.Helper()
	direct := f[1].Figure()
	b.ReportMetric(direct, "direct-µs")
	ours := f[0].Figure() - direct
	for i, c := range f {
		if i == 1 {
			continue
		}
		theirs := c.Figure() - direct
		b.ReportMetric(theirs, c.Name+"-added-µs")
		if i == 0 {
			continue
		}
		b.ReportMetric(ours/theirs, "x-"+c.Name)
		if want, ok := most[c.Name]; ok && b.N >= enough && ours > want*theirs {
			b.Logf("MISSED: %.2f times what %s adds, the target is %.2f", ours/theirs, c.Name, want)
		}
	}
}
