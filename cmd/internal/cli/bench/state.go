// Package bench has the flags and the start-up that the commands of the workbench's systems share.
package bench

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/internal/plug"
)

// StateFlags are those of everything that works on a system's state.
type StateFlags struct {
	State  string
	Ledger string
	root   string
}

// Register adds all of them.
func (f *StateFlags) Register(cmd *cobra.Command, root string) {
	f.RegisterRoot(cmd, root)
	f.RegisterState(cmd)
}

func (f *StateFlags) RegisterRoot(cmd *cobra.Command, root string) {
	cmd.Flags().StringVar(&f.root, "root", "", root)
	_ = cmd.MarkFlagDirname("root") // the flag is ours, so that marking it cannot fail
}

func (f *StateFlags) RegisterState(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.State, "state", "", "the folder for sessions, locks and approvals; default in the state folder of the user")
	flags.StringVar(&f.Ledger, "ledger", "", "the folder of the trail, or none; default CANDOR_LEDGER, else ledger in the state folder")
	for _, folder := range []string{"state", "ledger"} {
		_ = cmd.MarkFlagDirname(folder) // the flags are ours, so that marking them cannot fail
	}
}

// RootDir returns the root, absolute and without symbolic links; the working folder if none was named.
func (f *StateFlags) RootDir() (string, error) {
	root := f.root
	if root == "" {
		root = "."
	}
	absolute, err := filepath.Abs(root)
	if err == nil {
		absolute, err = filepath.EvalSymlinks(absolute)
	}
	if err != nil {
		return "", term.BadInput("name an existing folder with --root", "the root: %s", err)
	}
	if info, err := os.Stat(absolute); err != nil || !info.IsDir() {
		return "", term.BadInput("name an existing folder with --root", "the root %s is no folder", absolute)
	}
	return absolute, nil
}

// OpenState opens the state folder of a system.
func (f *StateFlags) OpenState(env *term.Env, system string) (*workbench.State, error) {
	dir, err := f.StateDir(env, system)
	if err != nil {
		return nil, err
	}
	state, err := workbench.OpenState(dir)
	if err != nil {
		text, hint, better := strings.Cut(err.Error(), " (hint: ")
		if hint = strings.TrimSuffix(hint, ")"); !better {
			hint = "name a folder that can be written with --state"
		}
		return nil, term.BadInput(hint, "%s", text)
	}
	return state, nil
}

// StateDir returns the path of the state folder of a system.
func (f *StateFlags) StateDir(env *term.Env, system string) (string, error) {
	if f.State != "" {
		return term.AbsolutePath(f.State), nil
	}
	home, err := plug.StateFolder(env.Getenv)
	if err != nil {
		return "", term.BadInput("name a folder with --state", "%s", term.TrimHint(err))
	}
	return term.AbsolutePath(filepath.Join(home, "workbench", system)), nil
}

// TrailDir returns the folder of the trail, "" for none.
func (f *StateFlags) TrailDir(env *term.Env, state *workbench.State) string {
	dir := f.Ledger
	if dir == "" {
		dir = env.Getenv(plug.EnvLedger)
	}
	switch dir {
	case "":
		return filepath.Join(state.Dir(), "ledger")
	case plug.NoLedger:
		return ""
	}
	return term.AbsolutePath(dir)
}

// listenOrServe runs a bench where the flags say.
func listenOrServe(ctx context.Context, env *term.Env, cmd *cobra.Command, b *workbench.Bench, listen string) error {
	if listen == "" {
		return b.Serve(ctx)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", listen)
	if err != nil {
		return term.BadInput("choose another address with --listen", "%s", err)
	}
	env.Notify(cmd, "listening on http://"+listener.Addr().String()+"/mcp", "")
	return b.ServeListener(ctx, listener)
}

// stackPolicy is what the environment says of stacks.
func stackPolicy(env *term.Env) (candor.StackPolicy, error) {
	p, err := candor.ParseStackPolicy(env.Getenv("DEBUG_STACK"), env.Getenv("MCP_ERRORS_VERBOSE"))
	if err != nil {
		return p, term.BadInput("", "%s", err)
	}
	return p, nil
}
