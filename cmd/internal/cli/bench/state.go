// Package bench has the flags and the start-up code that the commands of the workbench's systems share.
package bench

import (
	"cmp"
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/cli/service"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/cmd/internal/fleet/ship"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/internal/ledgerconfig"
)

// StateFlags are the flags for the state, the ledger and the root of a system.
type StateFlags struct {
	State  string
	Ledger string
	root   string
}

// Register adds all flags; root is the help text of --root.
func (f *StateFlags) Register(cmd *cobra.Command, root string) {
	f.RegisterRoot(cmd, root)
	f.RegisterState(cmd)
}

// RegisterRoot adds --root with its help text.
func (f *StateFlags) RegisterRoot(cmd *cobra.Command, root string) {
	cmd.Flags().StringVar(&f.root, "root", "", root)
	_ = cmd.MarkFlagDirname("root") // fails only for an unknown flag
}

// RegisterState adds --state and --ledger.
func (f *StateFlags) RegisterState(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.State, "state", "", "folder for the state of the system; default a folder in the user's state folder")
	flags.StringVar(&f.Ledger, "ledger", "", "folder of the ledger, URL of a store that it is shipped to, or none; default $CANDOR_LEDGER, else ledger in the --state folder")
	for _, folder := range []string{"state", "ledger"} {
		_ = cmd.MarkFlagDirname(folder) // fails only for an unknown flag
	}
}

// RootDir returns the absolute path of --root with symbolic links resolved. The default is the working directory.
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
		return "", term.BadInput("name an existing folder with --root", "--root: %s", err)
	}
	return absolute, RequireFolder("--root", absolute, "name an existing folder")
}

// Given names the flags that were given for the state and the ledger, for an advice to run a command beside the server: "" or
// ", with the --state of this server". It has no paths, because the texts of errors have none.
func (f *StateFlags) Given() string {
	var names []string
	if f.State != "" {
		names = append(names, "--state")
	}
	if f.Ledger != "" {
		names = append(names, "--ledger")
	}
	if len(names) == 0 {
		return ""
	}
	return ", with the " + strings.Join(names, " and ") + " of this server"
}

// Command returns the flags that were given for the state and the ledger, as a shell reads them, for a command beside the
// server. It leaves out the URL of a store, which may have a secret.
func (f *StateFlags) Command() (flags string) {
	if f.State != "" {
		flags += " --state " + ShellWord(term.AbsolutePath(f.State))
	}
	switch {
	case f.Ledger == "" || strings.Contains(f.Ledger, "://"):
		return flags
	case f.Ledger == ledgerconfig.NoLedger:
		return flags + " --ledger none"
	}
	return flags + " --ledger " + ShellWord(term.AbsolutePath(f.Ledger))
}

// ShellWord quotes a text for a shell where that is necessary.
func ShellWord(text string) string {
	if strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=@%+,") == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// RequireState returns an error if --state names a folder that does not exist, for commands that inspect a server.
func (f *StateFlags) RequireState() error {
	if f.State == "" {
		return nil
	}
	return RequireFolder("--state", f.State, "name the folder that the server was started with")
}

// RequireFolder returns an error with a hint if the value of a flag is not a folder.
func RequireFolder(flag, name, hint string) error {
	if info, err := os.Stat(name); err != nil || !info.IsDir() {
		return term.BadInput(hint, "%s %s: not a folder", flag, name)
	}
	return nil
}

// OpenState opens the state folder of a system.
func (f *StateFlags) OpenState(env *term.Env, system string) (*workbench.State, error) {
	dir, err := f.StateDir(env, system)
	if err != nil {
		return nil, err
	}
	if _, _, err := ship.Locate(cmp.Or(f.Ledger, env.Getenv(ledgerconfig.EnvLedger)), noFolder); err != nil {
		return nil, service.BadLedger(err)
	}
	state, err := workbench.OpenState(dir)
	if err != nil {
		text, hint := term.SplitHint(err)
		return nil, term.BadInput(cmp.Or(hint, "name a folder that can be written with --state"), "%s", text)
	}
	return state, nil
}

// StateDir returns the path of the state folder of a system.
func (f *StateFlags) StateDir(env *term.Env, system string) (string, error) {
	if f.State != "" {
		return term.AbsolutePath(f.State), nil
	}
	home, err := ledgerconfig.StateFolder(env.Getenv)
	if err != nil {
		return "", term.BadInput("name a folder with --state", "%s", term.TrimHint(err))
	}
	return term.AbsolutePath(filepath.Join(home, "workbench", system)), nil
}

// LedgerDir returns the folder of the ledger, or "" for --ledger none. OpenState has checked the flag.
func (f *StateFlags) LedgerDir(env *term.Env, state *workbench.State) string {
	dir, _ := f.LedgerPlace(env, state)
	return dir
}

// Private returns the folders that no system serves to its clients: its state, its ledger, and the user's state folder, where all ledgers
// keep their keys and witness copies by default.
func (f *StateFlags) Private(env *term.Env, state *workbench.State) []string {
	private := []string{state.Dir()}
	if home, err := ledgerconfig.StateFolder(env.Getenv); err == nil {
		private = append(private, term.AbsolutePath(home))
	}
	if dir := f.LedgerDir(env, state); dir != "" {
		private = append(private, dir)
	}
	return private
}

// LedgerPlace returns the folder of the ledger, or "" for --ledger none, and the store that it is shipped to, or nil.
func (f *StateFlags) LedgerPlace(env *term.Env, state *workbench.State) (dir string, at *fleet.Location) {
	dir, at, _ = ship.Locate(cmp.Or(f.Ledger, env.Getenv(ledgerconfig.EnvLedger)), func() (string, error) { return filepath.Join(state.Dir(), "ledger"), nil })
	if dir == ledgerconfig.NoLedger {
		return "", nil
	}
	return term.AbsolutePath(dir), at
}

// noFolder is the default folder where only the syntax of --ledger is checked.
func noFolder() (string, error) { return "", nil }

// listenOrServe serves a bench at an address, or on standard input and output if listen is empty.
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

// stackPolicy reads the stack policy from the environment.
func stackPolicy(env *term.Env) (candor.StackPolicy, error) {
	p, err := candor.ParseStackPolicy(env.Getenv("DEBUG_STACK"), env.Getenv("MCP_ERRORS_VERBOSE"))
	if err != nil {
		return p, term.BadInput("", "%s", err)
	}
	return p, nil
}
