package stdio_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/gateway/stdio"
	"github.com/candor-mcp/candor/cmd/internal/testing/load"
)

// BenchmarkP4Stdio compares calls over one pipe with and without the gateway, alternately. An iteration is one round; the result
// is the ratio of the medians, x-direct.
func BenchmarkP4Stdio(b *testing.B) {
	for _, server := range []string{load.Plain, load.Lean} {
		for _, callers := range []int{1, 16, 128} {
			b.Run(fmt.Sprintf("server=%s/callers=%d", server, callers), func(b *testing.B) {
				race(b, load.Rate(callers, load.Echo, window),
					&load.Contestant{Name: "direct", Callers: piped(b, load.Env+"="+server, callers)},
					&load.Contestant{Name: "gateway", Callers: piped(b, stdio.WrapEnv+"="+server, callers)})
			})
		}
	}
}

// window is how long one contestant makes calls in one round.
const window = 150 * time.Millisecond

// race reports the median of each contestant, and for all but the first also the ratio to the first.
func race(b *testing.B, measure func(load.Callers) (float64, int64, error), all ...*load.Contestant) {
	b.Helper()
	r := load.Race{Measure: measure}
	for _, c := range all {
		r.Enter(c)
	}
	must(b, r.Round())
	r.Forget()
	for b.Loop() {
		must(b, r.Round())
	}
	b.ReportMetric(0, "ns/op") // the time of a round is meaningless
	for i, c := range all {
		b.ReportMetric(c.Figure(), c.Name+"/s")
		b.ReportMetric(c.CPU(), c.Name+"-cpu-µs")
		if i > 0 {
			b.ReportMetric(c.Figure()/all[0].Figure(), "x-"+all[0].Name)
			b.ReportMetric(all[0].CPU()/c.CPU(), "x-cpu") // the ratio if CPU time were the only limit
		}
	}
}

// piped starts this binary in another process, in the role that env selects.
func piped(b *testing.B, env string, callers int) load.Callers {
	b.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(b.Context()), os.Args[0]) // it ends when its input is closed
	cmd.Env = append(os.Environ(), env)
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

// wrapped starts the server behind a gateway in this process.
func wrapped(b *testing.B, server string, callers int, o gateway.Options) load.Callers {
	b.Helper()
	asked, ask, err := os.Pipe()
	must(b, err)
	heard, say, err := os.Pipe()
	must(b, err)
	ended := make(chan error, 1)
	go func() {
		_, err := stdio.Wrap(context.Background(), gateway.New(o), stdio.Streams{In: asked, Out: say},
			stdio.Child{Command: os.Args[0], Env: append(os.Environ(), load.Env+"="+server)})
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
