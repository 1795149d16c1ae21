package meter_test

import (
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/meter"
)

func TestCountServerIsBoundedAndExact(t *testing.T) {
	t.Parallel()
	m, err := meter.New(meter.Options{MaxTools: 3})
	if err != nil {
		t.Fatal(err)
	}
	if stats := m.Stats(); stats.ByServer != nil || strings.Contains(string(m.AppendStats(nil)), "byServer") {
		t.Errorf("a process that is a server itself has %v", stats.ByServer)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 1000 {
				m.CountServer(fmt.Sprintf("server-%d", i%5), "tool")
				m.Count(candor.New(candor.CodeNotFound, ""), "tool")
			}
		})
	}
	wg.Wait()
	stats := m.Stats()
	sum := uint64(0)
	for _, n := range stats.ByServer {
		sum += n
	}
	if len(stats.ByServer) != 4 || stats.ByServer[meter.Other] != 3200 || sum != stats.Total {
		t.Errorf("%v of %d", stats.ByServer, stats.Total)
	}
	m.CountServer("", "tool")
	(*meter.Meter)(nil).CountServer("x", "tool")
	if got := m.Stats().ByServer; len(got) != 4 {
		t.Errorf("%v", got)
	}
}

func TestCountServerDoesNotAllocateForAKnownName(t *testing.T) {
	m, err := meter.New(meter.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m.CountServer("@scope/server-x", "masked")
	if n := testing.AllocsPerRun(100, func() { m.CountServer("@scope/server-x", "masked") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestServerLabelIsCleanAndBounded(t *testing.T) {
	t.Parallel()
	m, err := meter.New(meter.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m.CountServer("two\nlines", "tool")
	m.CountServer(strings.Repeat("é", 4000), "tool")
	for _, row := range m.Snapshot().Servers {
		if strings.Contains(row.Server, "\n") || len(row.Server) > candor.MaxCallInfo {
			t.Errorf("%q", row.Server)
		}
	}
}

func TestOutcomesOfAServerAddUp(t *testing.T) {
	t.Parallel()
	m, err := meter.New(meter.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, outcome := range []string{"tool", "tool", "masked", meter.Suspected, "lost", "invented", ""} {
		m.CountServer("files", outcome)
	}
	want := meter.ServerCount{Server: "files", Count: 7, Outcomes: []meter.OutcomeCount{{"lost", 1}, {"masked", 1}, {"other", 2}, {"suspected", 1}, {"tool", 2}}}
	if got := m.Snapshot().Servers; len(got) != 1 || !reflect.DeepEqual(got[0], want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
