package checklist

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// runLimit is for tests that hang: a whole run takes a few minutes.
const runLimit = "20m"

// Run runs the tests in their folders. Cached results are not used: tests that build and drive a program do not change when the program
// does. A failing test is not an error of Run. When the context ends, all started processes are stopped.
func (m *Module) Run(ctx context.Context, tests []Func, say io.Writer) (Results, error) {
	if len(tests) == 0 {
		return Results{}, nil
	}
	cmd := exec.CommandContext(ctx, "go", m.arguments(tests)...)
	cmd.Dir = m.Root
	cmd.Stderr = say
	ownGroup(cmd)
	cmd.Cancel = func() error { return interruptGroup(cmd) }
	cmd.WaitDelay = 2 * time.Second // for the go command to remove its temporary files
	out, err := cmd.StdoutPipe()
	if err != nil {
		return Results{}, err
	}
	if err := cmd.Start(); err != nil {
		return Results{}, err
	}
	results, reading := Read(out, m.Path, say)
	err = cmd.Wait()
	killGroup(cmd)
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && ctx.Err() == nil {
		err = nil // a test failed or did not build: the results say so
	}
	if ctx.Err() != nil {
		err = fmt.Errorf("running the tests: %w", context.Cause(ctx))
	}
	return results, errors.Join(err, reading)
}

// arguments names each folder and each test once.
func (m *Module) arguments(tests []Func) []string {
	var folders, names []string
	for _, f := range tests {
		folders = append(folders, "./"+f.Dir)
		names = append(names, f.Name)
	}
	slices.Sort(folders)
	slices.Sort(names)
	pattern := "^(" + strings.Join(slices.Compact(names), "|") + ")$"
	return append([]string{"test", "-json", "-count=1", "-timeout", runLimit, "-run", pattern}, slices.Compact(folders)...)
}
