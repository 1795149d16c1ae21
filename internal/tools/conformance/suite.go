// Package conformance runs the official conformance suite and the official clients against the boundary and the
// gateway. The suite must give the same totals with either as without; the clients must be able to read every error.
package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
)

// Run is one configuration of the official suite, with the totals that the bare server gets.
type Run struct {
	Package   Package
	Args      []string // after the address
	Stateless bool     // how the server is started: stateless for 2026-07-28, stateful for earlier versions
	Want      Total
	Alpha     bool // a prerelease, only run with -alpha
}

// Runs lists all configurations. 0.1.16 is the latest release of the suite; the alphas support both protocol eras and
// check every message against the protocol's JSON Schema. The 30 failures are in the tasks extension, which the go-sdk
// does not implement.
var Runs = []Run{
	{Package: Suite, Want: Total{40, 0}},
	{Package: Alpha, Args: []string{"--spec-version", "2025-11-25"}, Want: Total{73, 0}, Alpha: true},
	{Package: Alpha, Args: []string{"--requirements", "2026-07-28"}, Stateless: true, Want: Total{165, 30}, Alpha: true},
}

// Total counts the passed and failed checks of one scenario, or of all.
type Total struct {
	Passed, Failed int
}

func (t Total) String() string { return fmt.Sprintf("%d passed, %d failed", t.Passed, t.Failed) }

// Outcome is the result of the suite for one server.
type Outcome struct {
	Total     Total
	Scenarios map[string]Total
}

var (
	scenarioLine = regexp.MustCompile(`(?m)^[✓✗] ([\w.-]+): (\d+) passed, (\d+) failed`)
	totalLine    = regexp.MustCompile(`(?m)^Total: (\d+) passed, (\d+) failed`)
)

// readOutcome parses the summary at the end of the suite's output.
func readOutcome(text []byte) (Outcome, error) {
	total := totalLine.FindAllSubmatch(text, -1)
	if len(total) != 1 {
		return Outcome{}, fmt.Errorf("reading the suite's summary: %d lines with a total", len(total))
	}
	o := Outcome{Total: readTotal(total[0][1:]), Scenarios: map[string]Total{}}
	sum := Total{}
	for _, m := range scenarioLine.FindAllSubmatch(text, -1) {
		t := readTotal(m[2:])
		o.Scenarios[string(m[1])] = t
		sum.Passed += t.Passed
		sum.Failed += t.Failed
	}
	if sum != o.Total {
		return Outcome{}, fmt.Errorf("reading the suite's summary: the scenarios add up to %v, its total is %v", sum, o.Total)
	}
	return o, nil
}

// readTotal reads the two numbers that a pattern has matched.
func readTotal(digits [][]byte) (t Total) {
	t.Passed, _ = strconv.Atoi(string(digits[0])) // a number that is too large makes the sums differ
	t.Failed, _ = strconv.Atoi(string(digits[1]))
	return t
}

// Compare describes the differences between two outcomes, one scenario per line; "" if there are none.
func Compare(direct, other Outcome) string {
	var out bytes.Buffer
	names := maps.Clone(direct.Scenarios)
	maps.Copy(names, other.Scenarios)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		a, inDirect := direct.Scenarios[name]
		b, inOther := other.Scenarios[name]
		if a != b || inDirect != inOther {
			fmt.Fprintf(&out, "%s: direct %v, here %v\n", name, a, b)
		}
	}
	return out.String()
}

// Subject is a server under test and how to reach it.
type Subject struct {
	Name    string
	Server  string // path of the server program
	Gateway string // path of the candor command if its gateway runs in front of the server
}

// serve starts the subject and returns its URL. The gateway records below dir.
func (s Subject) serve(ctx context.Context, stateless bool, dir string) (url string, stop func(), err error) {
	address, stopServer, err := Serve(ctx, func(address string) *exec.Cmd {
		return exec.CommandContext(ctx, s.Server, "-http="+address, fmt.Sprintf("-stateless=%t", stateless))
	})
	if err != nil || s.Gateway == "" {
		return "http://" + address, stopServer, err
	}
	url, stopGateway, err := ServeGateway(ctx, s.Gateway, "http://"+address, dir)
	if err != nil {
		stopServer()
		return "", nil, err
	}
	return url, func() { stopGateway(); stopServer() }, nil
}

// Judge starts the subject, runs the suite against it and stops it. The suite writes its files below dir.
func (r Run) Judge(ctx context.Context, b Toolbox, subject Subject, dir string) (Outcome, error) {
	node, modules, err := b.Find(ctx, r.Package)
	if err != nil {
		return Outcome{}, err
	}
	url, stop, err := subject.serve(ctx, r.Stateless, dir)
	if err != nil {
		return Outcome{}, err
	}
	defer stop()
	args := append([]string{filepath.Join(modules, filepath.FromSlash(r.Package.Name), "dist", "index.js"),
		"server", "--url", url, "-o", dir}, r.Args...)
	text, err := exec.CommandContext(ctx, node, args...).CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) { // the suite exits with 1 if a scenario failed
		return Outcome{}, fmt.Errorf("running the suite: %w", err)
	}
	o, err := readOutcome(text)
	if err != nil {
		return o, fmt.Errorf("%w\n%s", err, text)
	}
	return o, nil
}
