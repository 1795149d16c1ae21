package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/internal/ledgerconfig"
)

// clusterName is the program that has the engines that candor lacks. It has the same commands.
const clusterName = "candor-cluster"

// storeCommands are the commands whose arguments may be the URL of a store. Those of others, such as wrap, belong to a server.
var storeCommands = []string{"ledger", "fleet", "console", "learn"}

// checkEngines returns [term.ErrNeedsCluster] if the command line or CANDOR_LEDGER names a store that this program has no engine for.
func checkEngines(env *term.Env, cmd *cobra.Command, args []string) error {
	for _, text := range storeNames(env, cmd, args) {
		if !fleet.IsLocation(text) {
			continue
		}
		scheme, _, _ := strings.Cut(text, ":")
		if _, ok := env.Engines[scheme]; !ok {
			return term.NeedsCluster("a store of the kind " + scheme + ":")
		}
	}
	return nil
}

// storeNames returns the texts that may be the URL of a store.
func storeNames(env *term.Env, cmd *cobra.Command, args []string) []string {
	var names []string
	if flag := cmd.Flags().Lookup("ledger"); flag != nil {
		name := flag.Value.String()
		if name == "" {
			name = env.Getenv(ledgerconfig.EnvLedger)
		}
		names = append(names, name)
	}
	top := cmd
	for top.HasParent() && top.Parent().HasParent() {
		top = top.Parent()
	}
	if slices.Contains(storeCommands, top.Name()) {
		names = append(names, args...)
	}
	return names
}

// needsCluster reports whether a command failed, before it did anything, because candor-cluster is needed.
func needsCluster(err error) bool {
	return errors.Is(err, term.ErrNeedsCluster) || errors.Is(err, fleet.ErrNoEngine)
}

// runCluster runs the command line with the candor-cluster beside this executable and returns its exit code. It returns an error with
// the next step if there is none that may be used. On Unix it does not return after a success.
func runCluster(ctx context.Context, reason error, args []string) (int, error) {
	path, err := findCluster()
	if err == nil {
		err = checkCluster(ctx, path)
	}
	if err == nil {
		var code int
		if code, err = replaceProcess(ctx, path, append([]string{path}, args...)); err == nil {
			return code, nil
		}
	}
	return 0, term.BadInput("put "+clusterName+" of the same version into the folder of this executable, or run it instead; see docs/releasing.md",
		"%s; %s", strings.TrimSuffix(reason.Error(), "."), err)
}

// findCluster returns the path of candor-cluster in the folder of this executable. Neither PATH nor the working directory is searched:
// whoever can write there would decide what runs.
func findCluster() (string, error) {
	self, err := os.Executable()
	if err == nil {
		self, err = filepath.EvalSymlinks(self)
	}
	if err != nil {
		return "", fmt.Errorf("the folder of this executable is unknown: %w", err)
	}
	path := filepath.Join(filepath.Dir(self), clusterName)
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("%s: no such file", path)
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%s: not a file", path)
	}
	own, err := os.Stat(self)
	if err != nil {
		return "", err
	}
	if err := checkOwner(own, info); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return path, nil
}

// clusterTimeout is the time in which candor-cluster must print its version.
const clusterTimeout = 20 * time.Second

// checkCluster returns an error unless the program is candor-cluster of the version of this executable. Two versions may disagree about
// flags and files.
func checkCluster(ctx context.Context, path string) error {
	ctx, cancel := context.WithTimeout(ctx, clusterTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "version", "--json")
	cmd.WaitDelay = time.Second
	out, err := firstOutput(cmd)
	if err != nil {
		return fmt.Errorf("running %s version --json: %w", path, err)
	}
	var theirs term.BuildInfo
	if err := json.Unmarshal(out, &theirs); err != nil || theirs.Version == "" {
		return fmt.Errorf("%s version --json: not the output of candor", path)
	}
	ours := term.ReadBuildInfo()
	if theirs.Version != ours.Version || theirs.Revision != ours.Revision {
		return fmt.Errorf("%s has version %s, this executable %s", path, versionText(theirs), versionText(ours))
	}
	return nil
}

// maxVersionOutput is far above the output of a version command.
const maxVersionOutput = 64 << 10

// firstOutput runs a program that prints little. One that prints more than maxVersionOutput is ended by the closed pipe, which is an error.
func firstOutput(cmd *exec.Cmd) ([]byte, error) {
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, err
	}
	out, err := io.ReadAll(io.LimitReader(stdout, maxVersionOutput))
	return out, errors.Join(err, stdout.Close(), cmd.Wait())
}

func versionText(i term.BuildInfo) string {
	if i.Revision == "" {
		return i.Version
	}
	return i.Version + " " + i.Revision[:min(12, len(i.Revision))]
}

// runChild runs a program with the streams and the environment of this process and returns its exit code. It serves systems on which a
// process cannot be replaced. Signals that end a console program reach the child by themselves, and the parent waits for it.
func runChild(ctx context.Context, path string, argv []string) (int, error) {
	interrupts := make(chan os.Signal, 1) // never read
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	cmd := exec.CommandContext(context.WithoutCancel(ctx), path, argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	if ended, ok := errors.AsType[*exec.ExitError](err); ok {
		return ended.ExitCode(), nil
	}
	return 0, err
}
