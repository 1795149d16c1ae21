//go:build unix

package boundary_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor/boundary"
	"github.com/candor-mcp/candor/ledger"
	"github.com/candor-mcp/candor/meter"
)

// connected returns a client of a server, over the SDK's in-memory connection.
func connected(b testing.TB, o *boundary.Options) *mcp.ClientSession {
	b.Helper()
	server := mcp.NewServer(&mcp.Implementation{Name: "bench", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "fail"}, func(context.Context, *mcp.CallToolRequest, struct {
		Path string `json:"path"`
	}) (*mcp.CallToolResult, any, error) {
		return nil, nil, errors.New("the disk is on fire")
	})
	if o != nil {
		boundary.Install(server, *o)
	}
	here, there := mcp.NewInMemoryTransports()
	if _, err := server.Connect(b.Context(), here, nil); err != nil {
		b.Fatal(err)
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "1"}, nil).
		Connect(b.Context(), there, &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = session.Close() })
	return session
}

// cpu returns the CPU time of this process, which on a shared machine is steadier than the elapsed time.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// burst makes n failing calls from 16 goroutines and returns the CPU time per call.
func burst(b *testing.B, session *mcp.ClientSession, n int) time.Duration {
	b.Helper()
	const callers = 16
	var left atomic.Int64
	left.Store(int64(n))
	began := cpu(b)
	var wait sync.WaitGroup
	for range callers {
		wait.Go(func() {
			for left.Add(-1) >= 0 {
				result, err := session.CallTool(context.Background(), &mcp.CallToolParams{Name: "fail", Arguments: map[string]any{"path": "a"}})
				if err != nil || !result.IsError {
					b.Error(result, err)
					return
				}
			}
		})
	}
	wait.Wait()
	return (cpu(b) - began) / time.Duration(n)
}

// BenchmarkP3DurableFailure compares the CPU time of a failing call through the SDK alone with one that gets an envelope, is recorded
// on disk and counted, from 16 goroutines.
func BenchmarkP3DurableFailure(b *testing.B) {
	trail, err := ledger.Open(b.TempDir(), ledger.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = trail.Close() }()
	counts, err := meter.New(meter.Options{})
	if err != nil {
		b.Fatal(err)
	}
	bare, ours := connected(b, nil), connected(b, &boundary.Options{Ledger: trail, Meter: counts})
	light := connected(b, &boundary.Options{})
	for b.Loop() {
		burst(b, ours, 1)
	}
	var ratios, lights []float64
	for range 9 {
		base := burst(b, bare, 2000)
		lights = append(lights, float64(burst(b, light, 2000))/float64(base))
		ratios = append(ratios, float64(burst(b, ours, 2000))/float64(base))
	}
	slices.Sort(ratios)
	slices.Sort(lights)
	b.ReportMetric(ratios[len(ratios)/2], "x-cpu-of-bare")
	b.ReportMetric(lights[len(lights)/2], "x-cpu-without-record")
}
