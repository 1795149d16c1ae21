package checklist

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Results is what a run of tests came to. The zero value knows nothing: every test did not run.
type Results struct {
	list bool // nobody asked for results
	ends map[Func]Result
	subs map[Func][]string // the names of the subtests at any depth, by their test, in the order of their ends
}

// ListOnly are the results of no run, where tests count as there and not as passed.
var ListOnly = Results{list: true}

// event is one line of `go test -json`.
type event struct {
	Action, Package, Test, Output string
	Elapsed                       float64
}

// maxTold bounds what is told of one failing test; the end of its output says most.
const maxTold = 8 << 10

// Read follows the output of `go test -json` in a module to its end, and tells say of each test that ended and what failing ones
// printed.
func Read(in io.Reader, module string, say io.Writer) (Results, error) {
	r := Results{ends: map[Func]Result{}, subs: map[Func][]string{}}
	printed := map[Func]string{}
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if json.Unmarshal(line, &e) != nil { // the go command's own words
				e = event{Action: "build-output", Output: string(line)}
			}
			r.add(e, module, printed, say)
		}
		switch {
		case errors.Is(err, io.EOF):
			return r, nil
		case err != nil:
			return r, err
		}
	}
}

func (r *Results) add(e event, module string, printed map[Func]string, say io.Writer) {
	f := Func{strings.TrimPrefix(strings.TrimPrefix(e.Package, module), "/"), e.Test}
	if f.Dir == "" {
		f.Dir = "."
	}
	switch e.Action {
	case "build-output":
		fmt.Fprint(say, e.Output)
	case "output":
		text := printed[f] + e.Output
		printed[f] = text[max(0, len(text)-maxTold):]
	case "pass":
		r.end(f, Passed, e, say)
		delete(printed, f)
	case "skip":
		r.end(f, Skipped, e, say)
		delete(printed, f)
	case "fail":
		r.end(f, Failed, e, say)
		fmt.Fprint(say, printed[f])
		delete(printed, f)
	}
}

// end notes the result of a test. A package has none of its own.
func (r *Results) end(f Func, got Result, e event, say io.Writer) {
	if f.Name == "" {
		return
	}
	r.ends[f] = got
	test, _, sub := strings.Cut(f.Name, "/")
	if sub {
		top := Func{f.Dir, test}
		r.subs[top] = append(r.subs[top], f.Name)
	} else {
		fmt.Fprintf(say, "%-7s %s %s (%.1f s)\n", got, f.Dir, f.Name, e.Elapsed)
	}
}

// of returns the result of a test. One that passed but skipped a part of itself was skipped.
func (r Results) of(dir, name string) Result {
	got := r.ends[Func{dir, name}]
	switch {
	case r.list:
		return Listed
	case got == "":
		return NotRun
	case got == Passed:
		for _, sub := range r.below(dir, name) {
			if r.ends[Func{dir, sub}] == Skipped {
				return Skipped
			}
		}
	}
	return got
}

// below returns the names of the subtests of a test, or of a subtest.
func (r Results) below(dir, name string) []string {
	top, _, _ := strings.Cut(name, "/")
	var out []string
	for _, sub := range r.subs[Func{dir, top}] {
		if strings.HasPrefix(sub, name+"/") {
			out = append(out, sub)
		}
	}
	return out
}
