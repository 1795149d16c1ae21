package gateway_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/candor-mcp/candor/gateway"
	"github.com/candor-mcp/candor/internal/load"
)

// BenchmarkP4Stdio measures calls over one pipe with the gateway on the way, beside those without it, in turns. An iteration is one
// round: what counts is the ratio of the medians, x-direct.
func BenchmarkP4Stdio(b *testing.B) {
	for _, callers := range []int{1, 16, 128} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			r := race{b: b, callers: callers, tool: load.Echo}
			r.enter("direct", direct(b, callers))
			r.enter("gateway", wrapped(b, callers, gateway.Options{}))
			r.run("direct")
		})
	}
}

// window is how long one contestant calls in one round.
const window = 150 * time.Millisecond

// race lets contestants call a tool in turns.
type race struct {
	b       *testing.B
	callers int
	tool    string
	entered []contestant
}

type contestant struct {
	name  string
	calls load.Callers
	rates []float64
}

func (r *race) enter(name string, calls load.Callers) {
	r.entered = append(r.entered, contestant{name: name, calls: calls})
}

// run reports the medians, and each as a multiple of that of the one named.
func (r *race) run(beside string) {
	for i := range r.entered { // once without counting, so that nobody is measured while it learns the tools
		r.round(i)
		r.entered[i].rates = nil
	}
	for r.b.Loop() {
		for i := range r.entered {
			r.round(i)
		}
	}
	r.b.ReportMetric(0, "ns/op") // a round means nothing
	base := 0.0
	for _, c := range r.entered {
		if c.name == beside {
			base = median(c.rates)
		}
	}
	for _, c := range r.entered {
		r.b.ReportMetric(median(c.rates), c.name+"/s")
		if c.name != beside {
			r.b.ReportMetric(median(c.rates)/base, c.name+"-x-"+beside)
		}
	}
}

func (r *race) round(i int) {
	c := &r.entered[i]
	rate, err := load.Rate(c.calls, r.callers, r.tool, window)
	if err != nil {
		r.b.Fatal(c.name, err)
	}
	c.rates = append(c.rates, rate)
}

func median(all []float64) float64 {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[len(sorted)/2]
}

// direct starts the server for callers that talk to it themselves.
func direct(b *testing.B, callers int) load.Callers {
	b.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(b.Context()), os.Args[0]) // it ends with its input
	cmd.Env = append(os.Environ(), load.Env+"=1")
	in, err := cmd.StdinPipe()
	must(b, err)
	out, err := cmd.StdoutPipe()
	must(b, err)
	must(b, cmd.Start())
	p, err := load.NewPipe(out, in, callers)
	must(b, err)
	b.Cleanup(func() {
		must(b, p.Close())
		must(b, cmd.Wait())
	})
	return p
}

// wrapped starts the server behind a gateway.
func wrapped(b *testing.B, callers int, o gateway.Options) load.Callers {
	b.Helper()
	asked, ask, err := os.Pipe()
	must(b, err)
	heard, say, err := os.Pipe()
	must(b, err)
	ended := make(chan error, 1)
	go func() {
		_, err := gateway.New(o).Wrap(context.Background(), gateway.Streams{In: asked, Out: say},
			gateway.Child{Command: os.Args[0], Env: append(os.Environ(), load.Env+"=1")})
		_ = say.Close()
		ended <- err
	}()
	p, err := load.NewPipe(heard, ask, callers)
	must(b, err)
	b.Cleanup(func() {
		must(b, p.Close())
		must(b, <-ended)
		for _, end := range []io.Closer{asked, heard} {
			must(b, end.Close())
		}
	})
	return p
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
