package main

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/internal/plug"
)

// benchFlags are those of everything that works on a system's state.
type benchFlags struct {
	state  string
	ledger string
	root   string
}

// register adds all of them.
func (f *benchFlags) register(cmd *cobra.Command, root string) {
	f.registerRoot(cmd, root)
	f.registerState(cmd)
}

func (f *benchFlags) registerRoot(cmd *cobra.Command, root string) {
	cmd.Flags().StringVar(&f.root, "root", "", root)
	_ = cmd.MarkFlagDirname("root") // the flag is ours, so that marking it cannot fail
}

func (f *benchFlags) registerState(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.state, "state", "", "the folder for sessions, locks and approvals; default in the state folder of the user")
	flags.StringVar(&f.ledger, "ledger", "", "the folder of the trail, or none; default CANDOR_LEDGER, else ledger in the state folder")
	for _, folder := range []string{"state", "ledger"} {
		_ = cmd.MarkFlagDirname(folder) // the flags are ours, so that marking them cannot fail
	}
}

// rootDir returns the root, absolute and without symbolic links; the working folder if none was named.
func (f *benchFlags) rootDir() (string, error) {
	root := f.root
	if root == "" {
		root = "."
	}
	absolute, err := filepath.Abs(root)
	if err == nil {
		absolute, err = filepath.EvalSymlinks(absolute)
	}
	if err != nil {
		return "", bad("name an existing folder with --root", "the root: %s", err)
	}
	if info, err := os.Stat(absolute); err != nil || !info.IsDir() {
		return "", bad("name an existing folder with --root", "the root %s is no folder", absolute)
	}
	return absolute, nil
}

// openState opens the state folder of a system.
func (f *benchFlags) openState(w *world, system string) (*workbench.State, error) {
	dir, err := f.stateDir(w, system)
	if err != nil {
		return nil, err
	}
	state, err := workbench.OpenState(dir)
	if err != nil {
		text, hint, better := strings.Cut(err.Error(), " (hint: ")
		if hint = strings.TrimSuffix(hint, ")"); !better {
			hint = "name a folder that can be written with --state"
		}
		return nil, bad(hint, "%s", text)
	}
	return state, nil
}

// stateDir returns the path of the state folder of a system.
func (f *benchFlags) stateDir(w *world, system string) (string, error) {
	if f.state != "" {
		return absolute(f.state), nil
	}
	home, err := plug.StateFolder(w.getenv)
	if err != nil {
		return "", bad("name a folder with --state", "%s", withoutHint(err))
	}
	return absolute(filepath.Join(home, "workbench", system)), nil
}

// trailDir returns the folder of the trail, "" for none.
func (f *benchFlags) trailDir(w *world, state *workbench.State) string {
	dir := f.ledger
	if dir == "" {
		dir = w.getenv(plug.EnvLedger)
	}
	switch dir {
	case "":
		return filepath.Join(state.Dir(), "ledger")
	case plug.NoLedger:
		return ""
	}
	return absolute(dir)
}

// listenOrServe runs a bench where the flags say.
func listenOrServe(ctx context.Context, w *world, cmd *cobra.Command, b *workbench.Bench, listen string) error {
	if listen == "" {
		return b.Serve(ctx)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", listen)
	if err != nil {
		return bad("choose another address with --listen", "%s", err)
	}
	w.notify(cmd, "listening on http://"+listener.Addr().String()+"/mcp", "")
	return b.ServeListener(ctx, listener)
}

// stackPolicy is what the environment says of stacks.
func stackPolicy(w *world) (candor.StackPolicy, error) {
	p, err := candor.ParseStackPolicy(w.getenv("DEBUG_STACK"), w.getenv("MCP_ERRORS_VERBOSE"))
	if err != nil {
		return p, bad("", "%s", err)
	}
	return p, nil
}
