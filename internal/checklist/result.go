package checklist

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Results holds the results of a run of tests. In the zero value no test ran.
type Results struct {
	list bool // tests were listed, not run
	ends map[Func]Result
	subs map[Func][]string // the names of the subtests at any depth, by their test, in the order of their ends
}

// ListOnly is for tests that are listed and not run.
var ListOnly = Results{list: true}

// event is one line of `go test -json`.
type event struct {
	Action, Package, Test, Output string
	Elapsed                       float64
}

// maxOutput is how much of a failing test's output is printed, from its end.
const maxOutput = 8 << 10

// Read reads the output of `go test -json` in a module, and writes each result, and the output of failing tests, to say.
func Read(in io.Reader, module string, say io.Writer) (Results, error) {
	r := Results{ends: map[Func]Result{}, subs: map[Func][]string{}}
	printed := map[Func]string{}
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if json.Unmarshal(line, &e) != nil { // printed by the go command itself
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
		printed[f] = text[max(0, len(text)-maxOutput):]
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

// end stores the result of a test; results of packages are ignored.
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
