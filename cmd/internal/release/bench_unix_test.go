//go:build unix

package release_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/release"
)

// BenchmarkLaunchers compares `candor --version` from the executable, from the command of the npm package, from the second
// name in the wheel and from the Python module. Every iteration starts each of them once, so that other load on the machine affects all alike. It reports
// medians, and beside them the time of the empty programs of Node and Python, which the launchers cannot avoid.
func BenchmarkLaunchers(b *testing.B) {
	binary := filepath.Join(b.TempDir(), "candor")
	build := exec.CommandContext(b.Context(), "go", "build", "-ldflags", "-s -w", "-o", binary, "../../candor")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("building candor: %v\n%s", err, out)
	}
	content, err := os.ReadFile(binary)
	if err != nil {
		b.Fatal(err)
	}
	candor := release.Binary{Platform: host(b).Platform, Content: content}
	npm, wheel := installNPM(b, candor), installWheel(b, candor)
	commands := []struct {
		name string
		line []string
	}{
		{"binary", []string{binary, "--version"}},
		{"npm", []string{filepath.Join(npm, "candor"), "--version"}},
		{"node", []string{need(b, "node"), "-e", "0"}},
		{"wheel", []string{filepath.Join(wheel, "candor"), "--version"}},
		{"module", []string{filepath.Join(wheel, "python"), "-m", "candor_mcp", "--version"}},
		{"python", []string{filepath.Join(wheel, "python"), "-c", "0"}},
	}
	times := make(map[string][]time.Duration)
	for b.Loop() {
		for _, c := range commands {
			times[c.name] = append(times[c.name], duration(b, c.line))
		}
	}
	for _, c := range commands {
		b.ReportMetric(milliseconds(median(times[c.name])), c.name+"-ms")
	}
	for _, launcher := range []string{"npm", "wheel", "module"} {
		b.ReportMetric(milliseconds(median(times[launcher])-median(times["binary"])), launcher+"-adds-ms")
	}
}

func duration(b *testing.B, line []string) time.Duration {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
	defer cancel()
	start := time.Now()
	if out, err := exec.CommandContext(ctx, line[0], line[1:]...).CombinedOutput(); err != nil {
		b.Fatalf("%v: %v\n%s", line, err, out)
	}
	return time.Since(start)
}

func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
