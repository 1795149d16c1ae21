package kaiza

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/cmd/internal/workbench/preflight"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workspace"
	kaizacode "github.com/candor-mcp/candor/codes/kaiza"
)

type checksArgs struct {
	Checks []string `json:"checks"`
}

func (k *System) runChecks() workbench.Tool {
	return workbench.Tool{
		Name: "run_checks", Title: "Run the checks", Idempotent: true,
		About: "Run the operator's checks, such as tests, without changing a file first. They are the commands that also follow a change.",
		Input: `{"checks":{"type":"array","minItems":1,"maxItems":100,"items":{"type":"string","maxLength":256},"description":"Names of checks. Default: all."}}`,
		Codes: []candor.Code{kaizacode.PreflightFailed, kaizacode.InsufficientPermissions},
		Run:   workbench.Handle(k.check),
	}
}

// checkResult is the result of a check that passed.
type checkResult struct {
	Name   string `json:"name"`
	Output string `json:"output,omitempty"`
}

func (k *System) check(ctx context.Context, c *workbench.Call, in checksArgs) (workbench.Reply, error) {
	d, err := k.at(c)
	if err != nil {
		return workbench.Reply{}, err
	}
	if k.o.ReadOnly {
		return workbench.Reply{}, candor.New(kaizacode.InsufficientPermissions, "The workspace is read-only, and checks may write.",
			candor.WithSuggestion("Ask the operator to start the server without --access readonly."))
	}
	chosen, err := k.chooseChecks(in.Checks)
	if err != nil || len(chosen) == 0 {
		return workbench.Reply{Text: []string{"The operator has configured no checks.\n"}, Data: map[string]any{"checks": []checkResult{}}}, err
	}
	lock, err := workspace.Lock(ctx, d.state, k.o.LockWait)
	if err != nil {
		return workbench.Reply{}, err
	}
	defer func() { _ = lock.Close() }() // closing releases the lock
	effect, err := c.Reserve(ctx, "", map[string]any{"checks": (&change{checks: chosen}).checkNames()})
	if err != nil {
		return workbench.Reply{}, err
	}
	options := k.o.Preflight
	options.Hold = []*os.File{lock}
	results, failed := preflight.Run(ctx, d.folder.Root(), chosen, options)
	if err := effect.Complete(ctx, failed, nil); err != nil {
		c.Bench().Logger().Warn("recording the end of checks", slog.Any("error", err))
	}
	if failed != nil {
		return workbench.Reply{}, failed
	}
	var text strings.Builder
	passed := make([]checkResult, len(results))
	for i, r := range results {
		passed[i] = checkResult{chosen[i].Name, r.Output}
		fmt.Fprintf(&text, "%s passed.\n%s", chosen[i].Name, r.Output)
	}
	return workbench.Reply{Text: []string{text.String()}, Data: map[string]any{"checks": passed}}, nil
}

// chooseChecks returns the checks with these names, all if there are no names.
func (k *System) chooseChecks(names []string) ([]preflight.Command, error) {
	all := k.o.Policy.Commands()
	if len(names) == 0 {
		return all, nil
	}
	var known []string
	for _, c := range all {
		known = append(known, c.Name)
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, wrongValue("/checks", "there is no check of this name; the checks are: "+strings.Join(known, ", "))
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(c preflight.Command) bool { return !slices.Contains(names, c.Name) }), nil
}
