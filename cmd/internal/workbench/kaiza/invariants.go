package kaiza

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/cmd/internal/workbench/folder"
	"github.com/candor-mcp/candor/cmd/internal/workbench/preflight"
)

// invariants returns the conditions that are checked at startup.
func (k *System) invariants() []workbench.Invariant {
	return []workbench.Invariant{
		{ID: "INV_STARTUP_ROOT_SANE", About: "The root is an absolute, existing folder that is not a whole file system.", Check: k.rootSane},
		{ID: "INV_STARTUP_STATE_OUTSIDE_ROOT", About: "No session can reach the state folder or the trail.", Check: k.stateOutside},
		{ID: "INV_STARTUP_POLICY_OUTSIDE_ROOT", About: "No session can reach the file that the policy comes from.", Check: k.policyOutside},
		{ID: "INV_STARTUP_CHECKS_FOUND", About: "Every command that follows a change can be found.", Check: k.checksFound},
	}
}

func (k *System) rootSane(context.Context, *workbench.Bench) error {
	info, err := os.Stat(k.o.Root)
	switch {
	case err != nil:
		return errors.New("root: cannot be read (hint: start with --root DIR)")
	case !filepath.IsAbs(k.o.Root) || !info.IsDir():
		return errors.New("root: not an absolute path of a folder (hint: start with --root DIR)")
	case filepath.Dir(k.o.Root) == k.o.Root:
		return errors.New("root: a whole file system (hint: start with --root DIR, the folder that holds the workspaces)")
	}
	return nil
}

// reachable reports whether a session could open a file.
func (k *System) reachable(name string) bool {
	return folder.Inside(name, k.o.Root)
}

func (k *System) stateOutside(context.Context, *workbench.Bench) error {
	for _, dir := range k.o.Private {
		if k.reachable(dir) {
			return fmt.Errorf("%s: below the root, and holds the state, the trail or keys (hint: choose another folder with --root, --state or --ledger)", dir)
		}
		if folder.Inside(k.o.Root, dir) {
			return fmt.Errorf("root: inside of %s, which holds the state, the trail or keys (hint: name the folder of your projects with --root)", dir)
		}
	}
	return nil
}

func (k *System) policyOutside(context.Context, *workbench.Bench) error {
	if k.o.PolicyFile != "" && k.reachable(k.o.PolicyFile) {
		return errors.New("policy file: below the root, where a plan could allow changing it (hint: keep it elsewhere)")
	}
	return nil
}

func (k *System) checksFound(context.Context, *workbench.Bench) error {
	return preflight.Lookup(k.o.Policy.Commands())
}
