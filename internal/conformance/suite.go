// Package conformance runs other people's judgement over our boundary: the official conformance suite, and the official
// clients. The suite must give the same totals with the boundary as without it; the clients must be able to read every error.
package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"time"
)

// Run is one way of running the official suite, with the totals that the bare server has.
type Run struct {
	Package   Package
	Args      []string // after the address
	Stateless bool     // how the server is started: 2026-07-28 is stateless, what came before is not
	Want      Total
	Alpha     bool // not a release: run in the long forms only
}

// Runs are all of them. 0.1.16 is what the suite's authors call the latest; the alphas know both protocol eras and check every
// message against the protocol's JSON Schema. The 30 failures are in the tasks extension, which the go-sdk does not have.
var Runs = []Run{
	{Package: Suite, Want: Total{40, 0}},
	{Package: Alpha, Args: []string{"--spec-version", "2025-11-25"}, Want: Total{73, 0}, Alpha: true},
	{Package: Alpha, Args: []string{"--requirements", "2026-07-28"}, Stateless: true, Want: Total{165, 30}, Alpha: true},
}

// Total is what a scenario, or all of them, came to.
type Total struct {
	Passed, Failed int
}

func (t Total) String() string { return fmt.Sprintf("%d passed, %d failed", t.Passed, t.Failed) }

// Outcome is what the suite said about one server.
type Outcome struct {
	Total     Total
	Scenarios map[string]Total
}

var (
	scenarioLine = regexp.MustCompile(`(?m)^[✓✗] ([\w.-]+): (\d+) passed, (\d+) failed`)
	totalLine    = regexp.MustCompile(`(?m)^Total: (\d+) passed, (\d+) failed`)
)

// ReadOutcome reads the summary at the end of what the suite prints.
func ReadOutcome(text []byte) (Outcome, error) {
	total := totalLine.FindAllSubmatch(text, -1)
	if len(total) != 1 {
		return Outcome{}, fmt.Errorf("reading the suite's summary: %d lines with a total", len(total))
	}
	o := Outcome{Total: Total{number(total[0][1]), number(total[0][2])}, Scenarios: map[string]Total{}}
	sum := Total{}
	for _, m := range scenarioLine.FindAllSubmatch(text, -1) {
		t := Total{number(m[2]), number(m[3])}
		o.Scenarios[string(m[1])] = t
		sum.Passed += t.Passed
		sum.Failed += t.Failed
	}
	if sum != o.Total {
		return Outcome{}, fmt.Errorf("reading the suite's summary: the scenarios add up to %v, its total is %v", sum, o.Total)
	}
	return o, nil
}

// number reads what the pattern has already seen to be digits.
func number(digits []byte) int {
	n, err := strconv.Atoi(string(digits))
	if err != nil {
		return -1
	}
	return n
}

// Compare says where two servers were judged differently: "" if nowhere.
func Compare(direct, bounded Outcome) string {
	var out bytes.Buffer
	names := maps.Clone(direct.Scenarios)
	maps.Copy(names, bounded.Scenarios)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		a, inDirect := direct.Scenarios[name]
		b, inBounded := bounded.Scenarios[name]
		if a != b || inDirect != inBounded {
			fmt.Fprintf(&out, "%s: direct %v, with the boundary %v\n", name, a, b)
		}
	}
	return out.String()
}

// Judge starts the server, runs the suite against it and stops it. The suite's files go below dir.
func (r Run) Judge(ctx context.Context, b Toolbox, server, dir string) (Outcome, error) {
	node, err := b.Node(ctx)
	if err != nil {
		return Outcome{}, err
	}
	modules, err := b.Modules(r.Package)
	if err != nil {
		return Outcome{}, err
	}
	address, stop, err := start(ctx, server, r.Stateless)
	if err != nil {
		return Outcome{}, err
	}
	defer stop()
	args := append([]string{filepath.Join(modules, filepath.FromSlash(r.Package.Name), "dist", "index.js"),
		"server", "--url", "http://" + address, "-o", dir}, r.Args...)
	text, err := exec.CommandContext(ctx, node, args...).CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) { // it exits with 1 if a scenario failed
		return Outcome{}, fmt.Errorf("running the suite: %w", err)
	}
	o, err := ReadOutcome(text)
	if err != nil {
		return o, fmt.Errorf("%w\n%s", err, text)
	}
	return o, nil
}

// start runs the server on a free port of this machine and waits until it listens. Somebody else may take the port between
// asking and using it, so it is tried more than once.
func start(ctx context.Context, server string, stateless bool) (address string, stop func(), err error) {
	for range 3 {
		address, err = freeAddress(ctx)
		if err != nil {
			return "", nil, err
		}
		var complaints bytes.Buffer
		cmd := exec.CommandContext(ctx, server, "-http="+address, fmt.Sprintf("-stateless=%t", stateless))
		cmd.Stderr = &complaints
		if err = cmd.Start(); err != nil {
			return "", nil, err
		}
		gone := make(chan struct{})
		go func() {
			_ = cmd.Wait() // how it ended does not matter: it is killed, or it has said why it stopped
			close(gone)
		}()
		stop = func() {
			_ = cmd.Process.Kill()
			<-gone
		}
		if err = listening(ctx, address, gone); err == nil {
			return address, stop, nil
		}
		stop()
		err = fmt.Errorf("starting %s: %w\n%s", filepath.Base(server), err, bytes.TrimSpace(complaints.Bytes()))
	}
	return "", nil, err
}

func freeAddress(ctx context.Context) (string, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// listening waits until somebody answers at the address or the server has gone. The context bounds it.
func listening(ctx context.Context, address string, gone <-chan struct{}) error {
	for {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-gone:
			return errors.New("it stopped before it listened")
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}
