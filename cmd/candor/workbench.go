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

func newWorkbench(w *world) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "workbench SYSTEM",
		Short: "Run a reference server, really working",
		Long: `Run one of the reference servers. Each is a useful MCP server in its own right, and shows what the contract
means: every failure is typed, recorded before it is sent, counted, and can be proven.

  kaiza     a governed file workspace: one role plans, a person approves, another role executes
  workrail  durable workflows: an agent is led step by step, and goes on after any interruption
  harness   memory, files, SQL, Python, a browser and web search behind one taxonomy of errors
  dual      tasks, thought records and attestations, with failures in two shapes

The person who approves the plans of kaiza uses:

  candor workbench plans             list them
  candor workbench approve PLAN      see what a plan changes, and approve it
  candor workbench revoke PLAN       take an approval back

What was changed is listed and undone with:

  candor workbench changes           list the changes of files, the newest first
  candor workbench undo [ID]         put the files of a change back as they were

A session that is locked because a rule was broken is freed with:

  candor workbench unlock            list the locked sessions, and unlock one

The workflows of workrail are looked after with:

  candor workbench workrail sessions list what is running, where it stands and why it is blocked
  candor workbench workrail doctor   check the health of all sessions, and repair what can be repaired
  candor workbench workrail check    check workflow files

What dual has recorded is looked at with:

  candor workbench dual tasks        list the tasks; sessions and rounds list the others
  candor workbench dual verify       check that no thought record was changed or removed
  candor workbench dual export TASK  write thought records with a proof for a third party`,
		Example: `  candor workbench kaiza --root ~/projects
  candor workbench approve 3f2a9c1d --root ~/projects/site`,
		Args: noSuchCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newKaiza(w), newWorkrail(w), newHarness(w), newDual(w), newPlans(w), newApprove(w), newRevoke(w), newChanges(w), newUndo(w), newUnlock(w))
	return cmd
}

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

// absolute is a name that means the same wherever it is looked at from.
func absolute(name string) string {
	if full, err := filepath.Abs(name); err == nil { // it fails only without a working folder
		return full
	}
	return name
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
	complain(w, cmd, &fault{text: "listening on http://" + listener.Addr().String() + "/mcp"})
	return b.ServeListener(ctx, listener)
}

// checkReach refuses an address that other machines reach without a token: the tools change files.
func checkReach(listen, token string) error {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return bad("such as --listen 127.0.0.1:8080", "--listen %q is no address", listen)
	}
	ip := net.ParseIP(host)
	if token == "" && host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return bad("name the variable that holds a token with --token-env, or listen on 127.0.0.1",
			"other machines reach %q, and nothing asks who they are", listen)
	}
	return nil
}

// stackPolicy is what the environment says of stacks.
func stackPolicy(w *world) (candor.StackPolicy, error) {
	p, err := candor.ParseStackPolicy(w.getenv("DEBUG_STACK"), w.getenv("MCP_ERRORS_VERBOSE"))
	if err != nil {
		return p, bad("", "%s", err)
	}
	return p, nil
}
