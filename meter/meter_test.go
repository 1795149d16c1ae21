package meter_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/common"
	"github.com/candor-mcp/candor/codes/memorybank"
	"github.com/candor-mcp/candor/meter"
)

func newMeter(t testing.TB, options meter.Options) *meter.Meter {
	t.Helper()
	m, err := meter.New(options)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func failure(code candor.Code, tool string) *candor.Error {
	return candor.New(code, "", candor.WithTool(tool))
}

func TestStatsJSON(t *testing.T) {
	m := newMeter(t, meter.Options{})
	m.Count(failure(common.InvalidParams, "mb/read"), "protocol")
	m.Count(failure(memorybank.FileNotFound, "mb/read"), "protocol")
	m.Count(failure(candor.CodeMethodNotFound, ""), "protocol")
	m.Count(failure(candor.CodeParseError, ""), "malformed")
	m.Count(nil, "strange")
	m.Count(failure(candor.CodeParseError, ""), "clean")
	m.CountSuppressed()
	m.CountUnrecorded(failure(candor.CodeLedgerFailed, "mb/read"))
	const want = `{"total":5,` +
		`"byCode":{"-32601":1,"-32700":1,"1000":1,"2300":1,"4002":1},` +
		`"byDomain":{"candor":3,"common":1,"memory-bank":1},` +
		`"bySymbol":{"E_INVALID_PARAMS":1,"E_MB_FILE_NOT_FOUND":1,"METHOD_NOT_FOUND":1,"PARSE_ERROR":1,"UNCODED_ERROR":1},` +
		`"byTool":{"mb/read":{"protocol":2},"none":{"malformed":1,"other":1,"protocol":1}},` +
		`"suppressed":1,"suspected":0,"unrecorded":1}`
	if got := string(m.AppendStats(nil)); got != want {
		t.Errorf("stats are\n%s\nwant\n%s", got, want)
	}
}

func TestCountConcurrently(t *testing.T) {
	const goroutines, rounds = 64, 2000
	m := newMeter(t, meter.Options{MaxTools: 5})
	tools := []string{"", "a", "b", "c", "d", "e", "f", "g"}
	kinds := []string{"protocol", "tool", "masked", "malformed", "lost", "stray", "new one"}
	var all []candor.Code
	for c := range candor.Codes() {
		all = append(all, c)
	}
	stop, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		for last := uint64(0); ; {
			select {
			case <-stop:
				return
			default:
			}
			s := m.Stats()
			if sum(s.ByCode) != s.Total || s.Total < last {
				t.Errorf("while counting: total %d after %d, byCode adds up to %d", s.Total, last, sum(s.ByCode))
				return
			}
			last = s.Total
		}
	}()
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			for i := range rounds {
				n := g*rounds + i
				m.Count(failure(all[n%len(all)], tools[n%len(tools)]), kinds[n%len(kinds)])
			}
		})
	}
	wg.Wait()
	close(stop)
	<-watched
	s := m.Stats()
	const want = goroutines * rounds
	byTool := uint64(0)
	for _, verdicts := range s.ByTool {
		byTool += sum(verdicts)
	}
	for name, got := range map[string]uint64{
		"total": s.Total, "byCode": sum(s.ByCode), "byDomain": sum(s.ByDomain), "bySymbol": sum(s.BySymbol), "byTool": byTool,
	} {
		if got != want {
			t.Errorf("%s is %d, want %d", name, got, want)
		}
	}
}

func sum(counts map[string]uint64) (n uint64) {
	for _, c := range counts {
		n += c
	}
	return n
}

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
	if len(stats.ByServer) != 4 || stats.ByServer["other"] != 3200 || sum != stats.Total {
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
