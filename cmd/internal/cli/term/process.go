package term

import (
	"context"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/candor/early"
)

// StopContext returns a context that is cancelled by Ctrl-C, SIGTERM and the signals in also. SIGPIPE is ignored until stop is
// called: a write to a client that has exited fails, and the ledger is closed properly. Signals that were ignored at the start, as by
// nohup or in the background of a script, stay ignored, also in child processes.
func StopContext(cmd *cobra.Command, also ...os.Signal) (ctx context.Context, stop func()) {
	wanted := slices.DeleteFunc(append(also, os.Interrupt, syscall.SIGTERM), signal.Ignored)
	if len(wanted) == 0 {
		wanted = []os.Signal{syscall.SIGTERM} // an empty list would mean every signal
	}
	ctx, cancel := signal.NotifyContext(cmd.Context(), wanted...)
	pipes := make(chan os.Signal, 1)
	signal.Notify(pipes, syscall.SIGPIPE)
	return ctx, func() { cancel(); signal.Stop(pipes) }
}

// GuardCommand returns the command line of a guard, the process between this one and a command that it starts. On Linux it is the
// running executable, even if the file was replaced since.
func GuardCommand() []string {
	const running = "/proc/self/exe"
	if _, err := os.Stat(running); err == nil && runtime.GOOS == "linux" {
		return []string{running, early.Word}
	}
	return SelfCommand(early.Word)
}

// SelfCommand returns the command line of a hidden command of this program, or nil if its path is unknown.
func SelfCommand(word string) []string {
	self, err := os.Executable()
	if err != nil {
		return nil
	}
	return []string{self, word}
}

// AbsolutePath makes a path absolute. Without a working directory it returns the path unchanged.
func AbsolutePath(name string) string {
	if full, err := filepath.Abs(name); err == nil {
		return full
	}
	return name
}

// CheckListen refuses an address that other machines can reach unless there is a token: the tools change files.
func CheckListen(listen, token string) error {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return BadInput("such as --listen 127.0.0.1:8080", "--listen %q: not an address", listen)
	}
	ip := net.ParseIP(host)
	if token == "" && host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return BadInput("name the variable that holds a token with --token-env, or listen on 127.0.0.1",
			"--listen %s: other machines can connect, and no token is required", listen)
	}
	return nil
}
