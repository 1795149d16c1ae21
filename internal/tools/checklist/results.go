package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
)

const module = "github.com/candor-mcp/candor"

// test is a test or subtest.
type test struct {
	Dir  string // folder of its package, from the root
	Name string
}

// results are the ends of the tests of one run.
type results struct {
	passed, failed int
	skips          []string        // "package Test: what the test printed"
	tests          []test          // in the order in which they ended
	ends           map[test]string // pass, fail or skip
	printed        map[test]string // the output of tests that have not ended
}

// readResults reads the output of go test -json to its end, and writes the line of each package and the output of failing tests to out.
func readResults(in io.Reader, out io.Writer) (*results, error) {
	r := &results{ends: map[test]string{}, printed: map[test]string{}}
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if json.Unmarshal(line, &e) != nil { // printed by the go command itself
				e = event{Action: "build-output", Output: string(line)}
			}
			r.add(e, out)
		}
		switch {
		case errors.Is(err, io.EOF):
			return r, nil
		case err != nil:
			return nil, err
		}
	}
}

// event is one line of go test -json.
type event struct{ Action, Package, Test, Output string }

func (r *results) add(e event, out io.Writer) {
	t := test{strings.TrimPrefix(strings.TrimPrefix(e.Package, module), "/"), e.Test}
	switch {
	case e.Action == "output" && e.Test == "", e.Action == "build-output":
		if e.Output != "PASS\n" && !strings.HasPrefix(e.Output, "?") {
			fmt.Fprint(out, e.Output)
		}
	case e.Action == "output":
		r.printed[t] += e.Output
	case e.Test != "" && slices.Contains([]string{"pass", "fail", "skip"}, e.Action):
		r.end(t, e.Action, out)
	}
}

func (r *results) end(t test, action string, out io.Writer) {
	text := r.printed[t]
	delete(r.printed, t)
	r.tests = append(r.tests, t)
	r.ends[t] = action
	switch action {
	case "pass":
		r.passed++
	case "fail":
		r.failed++
		fmt.Fprint(out, text)
	case "skip":
		r.skips = append(r.skips, t.Dir+" "+t.Name+": "+withoutFrame(text))
	}
}

// withoutFrame returns what a test printed, without the lines of the testing package.
func withoutFrame(text string) string {
	var kept []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "=== ") && !strings.HasPrefix(line, "--- ") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, " ")
}

// end of a test; one that passed but skipped a subtest was skipped.
func (r *results) endOf(t test) string {
	end := r.ends[t]
	if end == "pass" && slices.ContainsFunc(r.below(t), func(sub test) bool { return r.ends[sub] == "skip" }) {
		return "skip"
	}
	return end
}

// below returns the subtests of a test, at any depth.
func (r *results) below(t test) []test {
	var out []test
	for _, sub := range r.tests {
		if sub.Dir == t.Dir && strings.HasPrefix(sub.Name, t.Name+"/") {
			out = append(out, sub)
		}
	}
	return out
}

// check prints the skips, and returns an error if a test failed, was skipped without a line in the file, or if none ran.
func (r *results) check(file string, out io.Writer) error {
	switch {
	case r.failed > 0:
		return fmt.Errorf("%d tests failed", r.failed)
	case r.passed == 0:
		return errors.New("no test ran")
	case file == "":
		return nil
	}
	allowed, err := readAllowances(file)
	if err != nil {
		return err
	}
	wrong := 0
	for _, skip := range r.skips {
		i := slices.IndexFunc(allowed, func(a allowance) bool { return a.pattern.MatchString(skip) })
		if i < 0 {
			wrong++
			fmt.Fprintln(out, "SKIPPED WITHOUT A REASON:", skip)
			continue
		}
		fmt.Fprintf(out, "skipped: %s (allowed: %s)\n", skip, allowed[i].why)
	}
	if wrong > 0 {
		return fmt.Errorf("%d tests were skipped without a reason in %s", wrong, file)
	}
	return nil
}

// allowance is a skip that may happen.
type allowance struct {
	pattern *regexp.Regexp // of "package Test: what the test printed"
	why     string
}

// readAllowances reads lines of "pattern # reason".
func readAllowances(file string) ([]allowance, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var out []allowance
	for n, line := range strings.Split(string(text), "\n") {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		pattern, why, ok := strings.Cut(line, " # ")
		if !ok {
			return nil, fmt.Errorf("%s:%d: a skip needs a reason: pattern # reason", file, n+1)
		}
		re, err := regexp.Compile(strings.TrimSpace(pattern))
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, n+1, err)
		}
		out = append(out, allowance{re, strings.TrimSpace(why)})
	}
	return out, nil
}
