package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// Event is one line of `go test -json`.
type Event struct {
	Action  string
	Package string
	Test    string
	Output  string
	Elapsed float64
}

// Allowance is a skip that is in order, and why.
type Allowance struct {
	Pattern *regexp.Regexp // matched against "package Test: what the test output"
	Why     string
}

// Report is what a run of the tests came to.
type Report struct {
	Passed, Failed int
	Skips          []string // "package Test: what the test output"
	text           map[string]*strings.Builder
}

// ReadAllowances reads lines of "pattern  # reason". A line without a reason is refused.
func ReadAllowances(r io.Reader) ([]Allowance, error) {
	var out []Allowance
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		pattern, why, ok := strings.Cut(line, " # ")
		if !ok || strings.TrimSpace(why) == "" {
			return nil, fmt.Errorf("line %d: a skip needs a reason: pattern # reason", n)
		}
		re, err := regexp.Compile(strings.TrimSpace(pattern))
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		out = append(out, Allowance{re, strings.TrimSpace(why)})
	}
	return out, lines.Err()
}

// Read follows a run to its end, writing the line of each package and the output of each test
// that failed to w.
func Read(r io.Reader, w io.Writer) (*Report, error) {
	rep := &Report{text: map[string]*strings.Builder{}}
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var e Event
			if json.Unmarshal(line, &e) != nil { // the go command's own words
				e = Event{Action: "output", Output: string(line)}
			}
			if err := rep.add(e, w); err != nil {
				return rep, err
			}
		}
		if err == io.EOF {
			return rep, nil
		}
		if err != nil {
			return rep, err
		}
	}
}

func (r *Report) add(e Event, w io.Writer) error {
	key := e.Package + " " + e.Test
	switch {
	case e.Action == "output" && e.Test == "", e.Action == "build-output":
		if e.Output == "PASS\n" || strings.HasPrefix(e.Output, "?") {
			return nil
		}
		_, err := io.WriteString(w, e.Output)
		return err
	case e.Action == "output":
		if r.text[key] == nil {
			r.text[key] = &strings.Builder{}
		}
		r.text[key].WriteString(e.Output)
	case e.Test == "":
	case e.Action == "pass":
		r.Passed++
		delete(r.text, key)
	case e.Action == "skip":
		r.Skips = append(r.Skips, key+": "+r.output(key))
	case e.Action == "fail":
		r.Failed++
		if r.text[key] != nil {
			_, err := io.WriteString(w, r.text[key].String())
			return err
		}
	}
	return nil
}

// output returns what a test printed, without the frame the testing package puts around it.
func (r *Report) output(key string) string {
	if r.text[key] == nil {
		return ""
	}
	var words []string
	for line := range strings.Lines(r.text[key].String()) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "=== ") && !strings.HasPrefix(line, "--- ") {
			words = append(words, line)
		}
	}
	return strings.Join(words, " ")
}

// SortSkips sorts the skips into those in order, each with its reason, and those that are not.
func (r *Report) SortSkips(allowed []Allowance) (fine, wrong []string) {
	for _, s := range r.Skips {
		i := slices.IndexFunc(allowed, func(a Allowance) bool { return a.Pattern.MatchString(s) })
		if i < 0 {
			wrong = append(wrong, s)
			continue
		}
		fine = append(fine, s+" (in order: "+allowed[i].Why+")")
	}
	return fine, wrong
}
